"""A piece of causal head gating computed: some updates of a phase, or held-out scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from headscope.analyses.base import Arrays, Context, Kept, Progress, Spec
from headscope.analyses.chg import inside
from headscope.analyses.chg.earlier import taken_over
from headscope.analyses.chg.gates import OPEN_FROM
from headscope.analyses.chg.phases import PHASE_TITLES, PhaseName, phase, seeds_label
from headscope.analyses.chg.rows import rows
from headscope.analyses.chg.schema import ChgParams
from headscope.tasks.permuted import permuted

if TYPE_CHECKING:
    import torch

    from headscope.core.gating.fit import FitState

_STATE = ("logits", "first_moment", "second_moment")


@dataclass(frozen=True)
class Updates:
    """Some updates of a phase: of which of the run's ``seeds``, and after which piece they go on; ``null``:
    on targets permuted by the seed, a single one then.
    """

    phase: PhaseName
    seeds: range
    updates: range
    after: str | None
    null: bool = False


def fit(spec: Spec[ChgParams], work: Updates, context: Context) -> Kept:
    """Logits and Adam's moments [seed, layer, head] after the piece, its losses [seed, update] in nats, and
    what is known of who has settled and what is remembered of the examples.
    """
    from headscope.core.gating.fit import advance
    from headscope.core.gating.settling import SideHistory

    params = spec.params
    seeds = [params.first_seed + index for index in work.seeds]
    label = seeds_label(params, work.seeds)

    def report(step: int, loss: float) -> None:
        fraction = (step - work.updates.start) / len(work.updates)
        context.report(Progress(PHASE_TITLES[work.phase], label, step, params.steps, loss, fraction))

    examples = rows(spec, context, "train")
    if work.null:
        examples = permuted(examples, seeds[0])
    state = advance(
        context.model,
        examples,
        seeds,
        phase(work.phase, params),
        _start(params, work, seeds, context),
        work.updates.stop,
        sets=examples.pool_sets if params.batches_of_sets else None,
        replacements=inside.replacements(spec, context),
        checkpoint=context.checkpoint,
        report=report,
    )
    arrays = {name: getattr(state, name).cpu().numpy() for name in _STATE}
    watched = {name: getattr(state.watch, name).numpy() for name in SideHistory.names()}
    memory = state.memory
    remembered = {} if memory is None else {"slopes": memory.slopes.numpy(), "met": memory.met.numpy()}
    return {**arrays, **watched, **remembered, "losses": state.losses.numpy()}


def score(
    spec: Spec[ChgParams], fitted: str, seeds: range, context: Context, *, rounded: bool, masks: bool = False
) -> Kept:
    """Held-out log-probability (nats) and accuracy [seed] of some ``seeds`` of the piece ``fitted``; where
    asked for, also with gates rounded at 0.5, or of nothing but these (``masks``).
    """
    import torch

    logits = context.pieces[fitted]["logits"][seeds.start : seeds.stop]
    gates = torch.sigmoid(torch.from_numpy(np.array(logits)))
    if masks:
        return _evaluated(spec, context, _rounded(gates))
    found = _evaluated(spec, context, torch.cat([gates, _rounded(gates)]) if rounded else gates)
    n = len(seeds)
    soft = {name: array[:n] for name, array in found.items()}
    return {**soft, **{f"rounded_{name}": array[n:] for name, array in found.items()}} if rounded else soft


def ungated(spec: Spec[ChgParams], context: Context) -> Kept:
    """The ungated model on the held-out examples, and what examples the task gives."""
    from headscope.core.gating.fit import autocasts

    examples, train = rows(spec, context, "test"), rows(spec, context, "train")
    judged = spec.task.judged if spec.task is not None else "top"
    return {
        **_evaluated(spec, context),
        **inside.unpaired(spec, context),
        "chance": examples.chance(judged),
        "autocast": np.array([spec.params.autocast and autocasts(context.model.device)]),
        "n_examples": np.array([len(train), len(examples)]),
        "n_left_out": np.array([train.n_left_out, examples.n_left_out]),
        "tokens_per_example": np.array([np.mean([len(example.tokens) for example in train])]),
        "pool_sizes": np.unique(train.pool_sets or (), return_counts=True)[1],
        "targets_per_example": np.array([np.mean([len(example.targets) for example in train])]),
    }


def take_over(spec: Spec[ChgParams], context: Context) -> Arrays:
    """The arrays of the run that seeds are added to."""
    run = taken_over(spec)
    return {} if run is None else run.arrays


def _start(params: ChgParams, work: Updates, seeds: Sequence[int], context: Context) -> FitState:
    """Where the piece begins: drawn gates, phase 0's gates with fresh moments, or where the piece before
    ended.
    """
    import torch

    from headscope.core.gating.fit import FitState, initial_logits, open_logits
    from headscope.core.gating.saga import SlopeMemory
    from headscope.core.gating.settling import SideHistory

    if work.after is None:
        info = context.model.info
        wide = torch.float64 if context.model.dtype == torch.float64 else torch.float32
        drawn = open_logits if params.start_open else initial_logits
        return FitState.fresh(drawn(seeds, info.n_layers, info.n_heads, wide))
    before = {
        name: torch.from_numpy(np.array(array))
        for name, array in context.pieces[work.after].items()
        if name != "losses"
    }
    if not work.updates.start:
        logits = before["logits"]
        return FitState.fresh(logits.clamp(-params.clamp, params.clamp) if params.within_clamp else logits)
    watch = SideHistory(**{name: before[name] for name in SideHistory.names()})
    memory = SlopeMemory(before["slopes"], before["met"]) if "slopes" in before else None
    logits, first, second = (before[name] for name in _STATE)
    none = torch.zeros(len(seeds), 0, dtype=torch.float64)
    return FitState(work.updates.start, logits, first, second, none, watch, memory)


def _evaluated(
    spec: Spec[ChgParams], context: Context, gates: torch.Tensor | None = None
) -> dict[str, np.ndarray]:
    """Log-probability and accuracy on the held-out examples, a set of gates each."""
    from headscope.core.gating.evaluation import evaluate

    examples = rows(spec, context, "test")
    judged = spec.task.judged if spec.task is not None else "top"
    found = evaluate(
        context.model,
        examples,
        gates,
        judged=judged,
        replacements=None if gates is None else inside.replacements(spec, context),
        checkpoint=context.checkpoint,
    )
    return {"log_probability": found.log_probability.numpy(), "accuracy": found.accuracy.numpy()}


def _rounded(gates: torch.Tensor) -> torch.Tensor:
    """Open from 0.5 on, else shut; NaN stays NaN."""
    return (gates >= OPEN_FROM).to(gates).where(~gates.isnan(), gates)
