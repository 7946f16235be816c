"""A piece of causal head gating computed: some updates of a phase, or held-out scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from headscope.analyses.base import Arrays, Progress
from headscope.analyses.chg.plan import PHASE_TITLES, PhaseName, Work, seeds_label
from headscope.analyses.chg.presets import OPEN_FROM
from headscope.analyses.chg.schema import ChgParams
from headscope.analyses.legacy import Context
from headscope.errors import Invalid
from headscope.tasks.task import Examples, Split

if TYPE_CHECKING:
    import torch

    from headscope.core.gating.fit import FitState, Phase

_STATE = ("logits", "first_moment", "second_moment")


def fit(work: Work, params: ChgParams, context: Context) -> Arrays:
    """Logits and Adam's moments [seed, layer, head] after the piece, its losses [seed, update] in nats, and
    what is known of who has settled and what is remembered of the examples.
    """
    from headscope.core.gating.fit import advance
    from headscope.core.gating.settling import Watch

    seeds = [params.first_seed + index for index in work.seeds]
    label = seeds_label(params, work.seeds)

    def report(step: int, loss: float) -> None:
        fraction = (step - work.start) / (work.stop - work.start)
        context.report(Progress(PHASE_TITLES[work.phase], label, step, params.steps, loss, fraction))

    state = advance(
        context.model,
        _examples(params, context, "train"),
        seeds,
        phase(work.phase, params),
        _start(work, seeds, context),
        work.stop,
        checkpoint=context.checkpoint,
        report=report,
    )
    arrays = {name: getattr(state, name).cpu().numpy() for name in _STATE}
    watched = {name: getattr(state.watch, name).numpy() for name in Watch.names()}
    memory = state.memory
    remembered = {} if memory is None else {"slopes": memory.slopes.numpy(), "met": memory.met.numpy()}
    return {**arrays, **watched, **remembered, "losses": state.losses.numpy()}


def _start(work: Work, seeds: Sequence[int], context: Context) -> FitState:
    """Where the piece begins: drawn gates, phase 0's gates with fresh moments, or where the piece before
    ended.
    """
    import torch

    from headscope.core.gating.fit import FitState, initial_logits
    from headscope.core.gating.saga import Memory
    from headscope.core.gating.settling import Watch

    if not work.piece.needs:
        info = context.model.info
        wide = torch.float64 if context.model.dtype == torch.float64 else torch.float32
        return FitState.fresh(initial_logits(seeds, info.n_layers, info.n_heads, wide))
    before = {
        name: torch.from_numpy(np.array(array))
        for name, array in context.pieces[work.piece.needs[0]].items()
        if name != "losses"
    }
    if not work.start:
        return FitState.fresh(before["logits"])
    watch = Watch(**{name: before[name] for name in Watch.names()})
    memory = Memory(before["slopes"], before["met"]) if "slopes" in before else None
    logits, first, second = (before[name] for name in _STATE)
    none = torch.zeros(len(seeds), 0, dtype=torch.float64)
    return FitState(work.start, logits, first, second, none, watch, memory)


def phase(name: PhaseName, params: ChgParams) -> Phase:
    """The settings of one phase: phase 0 without a push, G+ and G- with it, on the same batches."""
    from headscope.core.gating.fit import Phase
    from headscope.core.gating.settling import Settling

    pushed = name != "zero"
    return Phase(
        steps=params.steps,
        regularisation={"zero": 0.0, "plus": params.regularisation, "minus": -params.regularisation}[name],
        lr_start=params.lr_start if pushed else params.phase0_lr_start,
        lr_end=params.lr_end if pushed else params.phase0_lr_end,
        batch_size=params.batch_size,
        clamp=params.clamp,
        clip=params.clip,
        stream="push" if pushed else "zero",
        settling=Settling() if params.settle else None,
        remembers=params.remember,
    )


def score(work: Work, params: ChgParams, context: Context) -> Arrays:
    """Held-out log-probability (nats) and accuracy [seed]; under G+ and G- also with gates rounded at 0.5."""
    import torch

    from headscope.core.gating.evaluation import evaluate

    examples = _examples(params, context, "test")
    judged = context.task.judged if context.task is not None else "top"
    group = int(work.piece.needs[0].split("/")[1].split("-")[0])
    block = slice(work.seeds.start - group, work.seeds.stop - group)
    gates = torch.sigmoid(torch.from_numpy(np.array(context.pieces[work.piece.needs[0]]["logits"][block])))
    sets = gates if work.phase == "zero" else torch.cat([gates, _rounded(gates)])
    found = evaluate(context.model, examples, sets, judged=judged, checkpoint=context.checkpoint)
    arrays = {"log_probability": found.log_probability.numpy(), "accuracy": found.accuracy.numpy()}
    n = len(work.seeds)
    soft = {name: array[:n] for name, array in arrays.items()}
    rounded = {f"rounded_{name}": array[n:] for name, array in arrays.items()}
    return soft if work.phase == "zero" else {**soft, **rounded}


def ungated(params: ChgParams, context: Context) -> Arrays:
    """The model as it is on the held-out examples, and what examples the task gives."""
    from headscope.core.gating.evaluation import evaluate

    examples, train = _examples(params, context, "test"), _examples(params, context, "train")
    judged = context.task.judged if context.task is not None else "top"
    found = evaluate(context.model, examples, judged=judged, checkpoint=context.checkpoint)
    return {
        "log_probability": found.log_probability.numpy(),
        "accuracy": found.accuracy.numpy(),
        "n_examples": np.array([len(train), len(examples)]),
        "n_left_out": np.array([train.n_left_out, examples.n_left_out]),
        "tokens_per_example": np.array([np.mean([len(example.tokens) for example in train])]),
        "targets_per_example": np.array([np.mean([len(example.targets) for example in train])]),
    }


def _rounded(gates: torch.Tensor) -> torch.Tensor:
    """Open from 0.5 on, else shut; NaN stays NaN."""
    return (gates >= OPEN_FROM).to(gates).where(~gates.isnan(), gates)


def _examples(params: ChgParams, context: Context, split: Split) -> Examples:
    if context.task is None:
        raise Invalid("Causal head gating needs a task.", "Name one: `headscope tasks list` shows them.")
    return context.task.examples(
        context.model.tokenizer,
        split,
        limit=params.n_train if split == "train" else params.n_test,
        seed=params.split_seed,
        shots=params.shots,
        n_ctx=context.model.info.n_ctx,
    )
