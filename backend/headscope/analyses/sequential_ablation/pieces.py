"""A piece of sequential ablation computed: the orders, both ends, or a part of the points between."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from headscope.analyses import ablation
from headscope.analyses.base import Context, Kept, Progress, Spec
from headscope.analyses.gating_run import gating_run
from headscope.analyses.held_out import held_out, other_rows
from headscope.analyses.sequential_ablation.schema import SequentialAblationParams
from headscope.analyses.sequential_ablation.setting import Setting
from headscope.core.gating.roles import SCORE_NAMES
from headscope.tasks.task import Examples

if TYPE_CHECKING:
    from headscope.core.gating.replacements import Replacements


@dataclass(frozen=True)
class Part:
    """Some ``orders`` of a ``seed``, both by index of ``Setting``, on some of the held-out examples."""

    seed: int
    orders: range
    examples: slice
    label: str


def ordered(given: Setting, context: Context) -> Kept:
    """The orders by score [score, seed, rank], the scores in that order, and the random ones [order, rank],
    with the seed whose base mask each has, by index.
    """
    n = len(SCORE_NAMES)
    order = np.stack([orders[:n] for orders in given.orders], axis=1)
    score = np.take_along_axis(given.score.reshape(*order.shape), order, axis=2)
    at_random = np.stack([given.orders[seed][place] for seed, place in given.random])
    return {
        "order": order.astype(np.uint16),
        "score": score.astype(np.float32),
        "random_order": at_random.astype(np.uint16),
        "random_seed": np.array([seed for seed, _ in given.random], np.uint16),
    }


def taken(spec: Spec[SequentialAblationParams], given: Setting, part: Part, context: Context) -> Kept:
    """Log-probability summed over the part's examples [order, count, (closed, opened)], and how many."""
    from headscope.core.gating.sequential import removed

    mine = _examples(spec, context)[part.examples]
    orders = given.orders[part.seed][part.orders.start : part.orders.stop]
    if not mine:  # fewer rows than the request allows
        nothing = np.zeros((len(orders), len(given.inner), 2))
        return {"sum": nothing, "n_examples": np.array([0])}

    def report(done: int, of: int) -> None:
        context.report(Progress(part.label, f"seed {given.seeds[part.seed]}", done, of, None, done / of))

    found = removed(
        context.model,
        mine,
        given.base[part.seed],
        orders,
        given.inner,
        replacements=_replacements(spec, context),
        checkpoint=context.checkpoint,
        report=report,
    )
    return {"sum": found.sum(axis=3), "n_examples": np.array([len(mine)])}


def ends(spec: Spec[SequentialAblationParams], context: Context) -> Kept:
    """Mean log-probability with every head closed, and with every head open."""
    import torch

    from headscope.core.gating.evaluation import evaluate

    shape = spec.model.n_layers, spec.model.n_heads
    gates = torch.stack([torch.zeros(shape), torch.ones(shape)])
    score = evaluate(
        context.model,
        _examples(spec, context),
        gates,
        replacements=_replacements(spec, context),
        checkpoint=context.checkpoint,
    )
    return {"mean": score.log_probability.numpy()}


def training(spec: Spec[SequentialAblationParams], context: Context) -> Examples:
    """Other rows of the task, for closed heads."""
    return other_rows(spec.task, gating_run(spec, "gating"), context.model)


def _replacements(spec: Spec[SequentialAblationParams], context: Context) -> Replacements | None:
    return ablation.replacements(spec.params.ablation, partial(training, spec), context)


def _examples(spec: Spec[SequentialAblationParams], context: Context) -> Examples:
    rows = held_out(spec.task, gating_run(spec, "gating"), spec.params.n_test, context.model)
    return ablation.usable(spec.params.ablation, rows)
