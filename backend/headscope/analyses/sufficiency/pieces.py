"""A piece of sufficiency computed: some points of a curve, or those that bisection asks for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Int

from headscope.analyses import ablation
from headscope.analyses.base import Arrays, Context, Kept, Progress, Spec
from headscope.analyses.gating_run import gating_run
from headscope.analyses.held_out import held_out, of_task, other_rows
from headscope.analyses.sufficiency.curve import Curve, bisect
from headscope.analyses.sufficiency.schema import SufficiencyParams
from headscope.core.gating.removal import best_first, random_order
from headscope.tasks.task import Examples

if TYPE_CHECKING:
    from headscope.core.gating.replacements import Replacements

_SCORES = ("log_probability", "accuracy")


def scored(spec: Spec[SufficiencyParams], tried: Sequence[int], seed: int | None, context: Context) -> Kept:
    """Scores [point] with the first k heads open for each k ``tried``: by facilitation, or in the random
    order of a ``seed``.
    """
    examples = _examples(spec, context)
    if seed is None:
        order = best_first(gating_run(spec, "run").facilitation)
    else:
        order = random_order(seed, spec.model.n_layers * spec.model.n_heads)
    return {**_scores(spec, tried, order, examples, context), "n_examples": np.array([len(examples)])}


def narrowed(spec: Spec[SufficiencyParams], chosen: Sequence[str], context: Context) -> Kept:
    """The points that bisection tried, the fewest heads that keep enough (-1: nothing to keep), and what
    ``assemble`` needs of the gating run; ``chosen`` are the keys of the curve's pieces.
    """
    score, examples = gating_run(spec, "run").facilitation, _examples(spec, context)
    order = best_first(score)
    curve = Curve.of([context.pieces[key] for key in chosen])
    tried: list[Arrays] = []

    def ask(k: int) -> float:
        found = _scores(spec, [k], order, examples, context)
        tried.append(found)
        context.report(Progress("narrowing down", "", len(tried), len(tried), None))
        return float(curve.share(found["log_probability"])[0])

    fewest = bisect(curve.k, curve.kept(), spec.params.keep, ask) if curve.gains() else -1
    return {
        **{
            name: np.concatenate([found[name] for found in tried]) if tried else np.zeros(0)
            for name in ("k", *_SCORES)
        },
        "fewest": np.array([fewest]),
        "n_examples": np.array([len(examples)]),
        "facilitation": score,
    }


def _scores(
    spec: Spec[SufficiencyParams],
    tried: Sequence[int],
    order: Int[np.ndarray, " rank"],
    examples: Examples,
    context: Context,
) -> Arrays:
    """Log-probability and accuracy [point] with the first k heads of an order open."""
    import torch

    from headscope.core.gating.evaluation import evaluate

    gates = torch.zeros(len(tried), len(order))
    for row, k in enumerate(tried):
        gates[row, torch.from_numpy(order[:k].copy())] = 1
    score = evaluate(
        context.model,
        examples,
        gates.view(-1, spec.model.n_layers, spec.model.n_heads),
        judged=of_task(spec.task).judged,
        replacements=_replacements(spec, context),
        checkpoint=context.checkpoint,
    )
    return {"k": np.array(tried), **{name: getattr(score, name).numpy() for name in _SCORES}}


def training(spec: Spec[SufficiencyParams], context: Context) -> Examples:
    """Other rows of the task, for closed heads."""
    return other_rows(spec.task, gating_run(spec, "run"), context.model)


def _replacements(spec: Spec[SufficiencyParams], context: Context) -> Replacements | None:
    return ablation.replacements(spec.params.ablation, partial(training, spec), context)


def _examples(spec: Spec[SufficiencyParams], context: Context) -> Examples:
    rows = held_out(spec.task, gating_run(spec, "run"), spec.params.n_test, context.model)
    return ablation.usable(spec.params.ablation, rows)
