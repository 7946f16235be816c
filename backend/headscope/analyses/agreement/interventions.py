"""What is measured of one head in dispute: arrays of one number or a few, by
core/attribution/backup_heads.py.

    closed       rise of the loss with the head closed, nats
    at_answers   closed only where a target is predicted
    later_held   closed, all later heads held as they were
    through      the later head by way of which most goes, (layer, head); through_held: closed, that one held
    settled      the head's gate under G-, mean over seeds; at_settled: rise with its gate there
    curve        rise at the gates CURVE
    partner      the head with the largest interaction; partner_closed, both_closed, interaction
    in_minus     rise of closing it under G-, mean over some seeds that need it (any, where none does)
    kept_from    what gating keeps a head for: all that the push pays to have its gate shut instead of open,
                 2 lambda clamp / heads, nats
    slope        what its slope at the model as it is promises, and slope_size: its size, mean over examples

Partners are all other heads where there are few, else those that gating finds most needed, those with the
largest slope once the head is closed, and those most needed in the seeds in which this one is shut.
"""

from __future__ import annotations

import numpy as np
import torch

from headscope.analyses.agreement.cost import ALL_PARTNERS, CURVE, MINUS_SEEDS
from headscope.analyses.agreement.disagreement import Head
from headscope.analyses.agreement.schema import AgreementParams
from headscope.analyses.base import Arrays, Context, Spec
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.chg.schema import ChgParams
from headscope.core.attribution.backup_heads import Substitution
from headscope.core.attribution.relatives import attribution_patching
from headscope.tasks.task import Examples


def measured(
    head: Head, gating: ChgResult, examples: Examples, spec: Spec[AgreementParams], context: Context
) -> Arrays:
    """All of the module's list."""
    model = context.model
    run = Substitution(model, examples, context.checkpoint)
    minus = gating.g_minus[gating.ran].astype(np.float64)
    settled = float(minus[:, head[0], head[1]].mean())
    curve = (run.curve(head, [*CURVE, settled]) - run.loss).numpy()
    slope = attribution_patching(model, examples, 1.0, context.checkpoint)[1][:, head[0], head[1]]
    return {
        "closed": curve[:1],
        "curve": curve[:-1],
        "settled": np.array([settled]),
        "at_settled": curve[-1:],
        "at_answers": np.array([run.closed_at_answers(head) - float(run.loss)]),
        "kept_from": np.array([_kept_from(gating, context)]),
        "slope": slope.mean()[None].numpy(),
        "slope_size": slope.abs().mean()[None].numpy(),
        **_through(run, head),
        **_partner(run, head, _candidates(head, minus, spec.params.partners, examples, context)),
        "in_minus": np.array([_in_minus(run, head, minus, spec.params.threshold)]),
    }


def _through(run: Substitution, head: Head) -> Arrays:
    """By layers first, then by the heads of the layer that carries most."""
    info = run.model.info
    layers = range(head[0] + 1, info.n_layers)
    whole = [[(layer, other) for other in range(info.n_heads)] for layer in layers]
    later = [place for layer in whole for place in layer]
    if not later:
        closed = float(run.closed([(head,)])[0] - run.loss)
        nothing = np.array([np.nan])
        return {
            "later_held": np.array([closed]),
            "through": np.array([-1, -1], np.int64),
            "through_held": nothing,
        }
    by_layer = run.closed_holding(head, [later, *whole]) - run.loss
    best = layers[int(by_layer[1:].argmin())]
    by_head = run.closed_holding(head, [[(best, other)] for other in range(info.n_heads)]) - run.loss
    return {
        "later_held": by_layer[:1].numpy(),
        "through": np.array([best, int(by_head.argmin())], np.int64),
        "through_held": by_head.min()[None].numpy(),
    }


def _partner(run: Substitution, head: Head, others: list[Head]) -> Arrays:
    alone = run.closed([(other,) for other in others]) - run.loss
    both = run.closed([(head, other) for other in others]) - run.loss
    own = run.closed([(head,)])[0] - run.loss
    interaction = both - alone - own
    best = int(interaction.argmax())
    return {
        "partner": np.array(others[best], np.int64),
        "partner_closed": alone[best][None].numpy(),
        "both_closed": both[best][None].numpy(),
        "interaction": interaction[best][None].numpy(),
    }


def _candidates(
    head: Head, minus: np.ndarray, count: int, examples: Examples, context: Context
) -> list[Head]:
    info = context.model.info
    places = [(layer, other) for layer in range(info.n_layers) for other in range(info.n_heads)]
    if len(places) <= ALL_PARTNERS:
        return [place for place in places if place != head]
    closed = torch.ones(1, info.n_layers, info.n_heads)
    closed[0, head[0], head[1]] = 0
    with context.model.gated(closed[0].to(context.model.device, context.model.dtype)):
        slope = attribution_patching(context.model, examples, 1.0, context.checkpoint)[1].mean(0).numpy()
    shut = minus[minus[:, head[0], head[1]] < minus[:, head[0], head[1]].mean() + 1e-9]
    ranks = [np.argsort(np.argsort(-score, axis=None)) for score in (minus.max(0), slope, shut.mean(0))]
    order = np.argsort(np.minimum.reduce(ranks), kind="stable")
    return [places[index] for index in order if places[index] != head][:count]


def _in_minus(run: Substitution, head: Head, minus: np.ndarray, threshold: float) -> float:
    needing = minus[minus[:, head[0], head[1]] >= threshold]
    chosen = torch.from_numpy((needing if len(needing) else minus)[:MINUS_SEEDS])
    shut = chosen.clone()
    shut[:, head[0], head[1]] = 0
    found = run.under(torch.cat([chosen, shut]).float())
    return float((found[len(chosen) :] - found[: len(chosen)]).mean())


def _kept_from(gating: ChgResult, context: Context) -> float:
    fit, info = ChgParams.model_validate(gating.params), context.model.info
    return 2 * fit.regularisation * fit.clamp / (info.n_layers * info.n_heads)
