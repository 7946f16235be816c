"""Who takes over from a head: G- fitted once more with that head closed.

A seed's G- is fitted again from the same G0, on the same batches, with the settings of the gating run: all
that differs is that the head's gate is 0 throughout. Heads that now stay open, though they were shut, do what
it did. Seeds that need the head are taken, since closing it changes nothing for the others.

    before, after   gates of G- as the run has it, and of the fit without the head, [layer, head]
    closing         rise of the held-out loss, nats: the head closed under the run's G-
    refitted        and what is left of that rise under the gates fitted without it
    relief          how much less closing costs where one head alone has the gate of the new fit,
                    [layer, head]; NaN but for those that opened most

Fits are noisy: many heads open or shut from one to the next for no reason. A head has taken over only where
its opening alone gives relief.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from jaxtyping import Float

from headscope.analyses.agreement.backup_heads import OPENS
from headscope.analyses.agreement.disagreement import Head
from headscope.analyses.base import Arrays, Context
from headscope.analyses.chg.phases import phase
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.chg.schema import ChgParams
from headscope.analyses.held_out import fitted_rows
from headscope.core.attribution.backup_heads import Substitution
from headscope.core.gating.fit import FitState, advance
from headscope.core.model.batches import Scored
from headscope.tasks.task import Task

_CLOSED = -100.0
"""A logit whose gate is 0 in float32, and so is its slope: no update moves it."""
_EPS = 1e-6
_TRIED = 8
"""Heads whose relief is measured."""


def needing(gating: ChgResult, head: Head, threshold: float) -> list[int]:
    """The seeds of a run, by place, that need a head, the one that needs it most first."""
    scores = np.where(gating.ran, gating.g_minus[:, head[0], head[1]], 0.0)
    return [int(seed) for seed in np.argsort(-scores, kind="stable") if scores[seed] >= threshold]


def refit(
    head: Head,
    seed: int,
    gating: ChgResult,
    examples: Sequence[Scored],
    task: Task | None,
    context: Context,
    report: Callable[[int, float], None] = lambda step, loss: None,
) -> Arrays:
    """All of the module's list for the run's seed in place ``seed``; ``report`` is that of ``advance``."""
    before = gating.g_minus[seed].astype(np.float32)
    after = _fit(head, seed, gating, task, context, report)
    closed = before.copy()
    closed[head] = 0
    tried = opened(before, after, head)
    ways = [before, closed, after]
    for place in tried:
        ways.append(closed.copy())
        ways[-1][place] = after[place]
    run = Substitution(context.model, examples, context.checkpoint)
    losses = run.under(torch.from_numpy(np.stack(ways))).numpy()
    relief = np.full(before.shape, np.nan)
    for place, loss in zip(tried, losses[3:].tolist(), strict=True):
        relief[place] = losses[1] - loss
    return {
        "before": before,
        "after": after,
        "closing": losses[1:2] - losses[0],
        "refitted": losses[2:3] - losses[0],
        "relief": relief,
    }


def opened(before: np.ndarray, after: np.ndarray, head: Head) -> list[Head]:
    """The heads whose gates rise most, by ``OPENS`` at least."""
    rise = after - before
    rise[head] = 0
    order = np.argsort(-rise, axis=None, kind="stable")[:_TRIED]
    return [divmod(int(i), rise.shape[1]) for i in order if rise.reshape(-1)[i] >= OPENS]


def _fit(
    head: Head,
    seed: int,
    gating: ChgResult,
    task: Task | None,
    context: Context,
    report: Callable[[int, float], None],
) -> Float[np.ndarray, "layer head"]:
    params = ChgParams.model_validate(gating.params)
    start = torch.logit(torch.from_numpy(np.array(gating.g_zero[seed : seed + 1])).float(), eps=_EPS)
    start[0, head[0], head[1]] = _CLOSED
    rows = fitted_rows(task, gating, context.model)
    state = advance(
        context.model,
        rows,
        [int(gating.seeds[seed])],
        phase("minus", params),
        FitState.fresh(start),
        sets=rows.pool_sets,
        checkpoint=context.checkpoint,
        report=report,
    )
    return state.gates[0].cpu().numpy()
