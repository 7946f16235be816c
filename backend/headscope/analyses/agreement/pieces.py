"""A piece of agreement computed: the comparison, evidence about a head, a fit without it."""

from __future__ import annotations

from typing import Final

import numpy as np

from headscope.analyses.agreement import ablations, methods
from headscope.analyses.agreement.disagreement import Head, disputed
from headscope.analyses.agreement.order import order
from headscope.analyses.agreement.schema import AgreementParams
from headscope.analyses.agreement.statistics import correlations, statistics
from headscope.analyses.base import Context, Kept, Progress, Spec
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.gating_run import gating_run
from headscope.analyses.held_out import held_out
from headscope.core.gating.roles import scores
from headscope.tasks.task import Examples

COMPARE: Final = "compare"
"""The key of the piece that all others read."""


def compare(spec: Spec[AgreementParams], context: Context) -> Kept:
    """What each method says of every head, how far they agree, and the heads in dispute."""
    gating, seen = gating_run(spec, "gating"), methods.compared(spec)
    by_score = scores(*(gates[gating.ran].astype(np.float64) for gates in (gating.g_plus, gating.g_minus)))
    facilitation, interference = by_score["facilitation"], by_score["interference"]
    found = disputed(seen)
    effects = {name: each.effect for name, each in seen.items()}
    columns = {"gating": effects.pop("gating"), "interference": interference.mean(axis=0), **effects}
    return {
        **methods.arrays_of(seen),
        **{
            f"{score}_{word}": reduce(by_score[score], axis=0).astype(np.float32)
            for score in ("facilitation", "interference")
            for word, reduce in (("mean", np.mean), ("low", np.min), ("high", np.max))
        },
        "seeds_needing": (facilitation >= spec.params.threshold).mean(axis=0).astype(np.float32),
        "n_seeds": np.array([int(gating.ran.sum())]),
        "statistics": statistics(seen, facilitation, interference),
        "correlations": correlations(columns),
        "order": order(seen),
        **ablations.arrays(spec, gating),
        "heads": np.array([head for head, _ in found], np.int64).reshape(-1, 2),
        "strength": np.array([strength for _, strength in found], np.float32),
    }


def explain(spec: Spec[AgreementParams], place: int, context: Context) -> Kept:
    """The ``head`` in a place, and what closing it does in other circumstances; (-1, -1) past the last."""
    from headscope.analyses.agreement.interventions import measured

    head = _head(place, context)
    if head is None:
        return {"head": np.full(2, -1)}
    gating = gating_run(spec, "gating")
    return {"head": np.array(head), **measured(head, gating, _examples(spec, gating, context), spec, context)}


def fit_without(spec: Spec[AgreementParams], place: int, number: int, label: str, context: Context) -> Kept:
    """The ``head`` in a place, and G- fitted with it closed in the nth of the seeds that need it."""
    from headscope.analyses.agreement.refit import needing, refit

    head = _head(place, context)
    if head is None:
        return {"head": np.full(2, -1)}
    gating = gating_run(spec, "gating")
    seeds = needing(gating, head, spec.params.threshold)
    if number >= len(seeds):
        return {"head": np.array(head)}
    steps = int(gating.params["steps"])

    def report(step: int, loss: float) -> None:
        context.report(Progress(label, f"{head[0]}.{head[1]}", step, steps, loss, step / steps))

    examples = _examples(spec, gating, context)
    found = refit(head, seeds[number], gating, examples, spec.task, context, report)
    return {"head": np.array(head), **found}


def _head(place: int, context: Context) -> Head | None:
    heads = context.pieces[COMPARE]["heads"]
    return (int(heads[place, 0]), int(heads[place, 1])) if place < len(heads) else None


def _examples(spec: Spec[AgreementParams], gating: ChgResult, context: Context) -> Examples:
    return held_out(spec.task, gating, spec.params.n_examples, context.model)
