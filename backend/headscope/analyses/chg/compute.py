"""Causal head gating as pieces of durable work: fits, held-out scores, and the result that they join to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.base import Arrays, Context, Estimate, Piece, Progress, Reference, Result
from headscope.analyses.chg.estimate import estimate
from headscope.analyses.chg.plan import PHASE_TITLES, PHASES, PhaseName, Work, plan, seeds_label
from headscope.analyses.chg.schema import PRESETS, ChgParams
from headscope.core.model import ModelInfo
from headscope.core.roles import finished
from headscope.core.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.tasks.task import Examples, Split, Task

if TYPE_CHECKING:
    from headscope.core.gating import FitState, Phase

_STATE = ("logits", "first_moment", "second_moment")


class CausalHeadGating:
    """Fits one gate per head, pushed open and pushed shut, over many seeds [arXiv 2505.13737]."""

    name: ClassVar[str] = "chg"
    title: ClassVar[str] = "Causal head gating"
    summary: ClassVar[str] = "Which heads the task needs, which harm it, and which don't matter."
    version: ClassVar[int] = 1
    needs_task: ClassVar[bool] = True
    attention: ClassVar[str] = "sdpa"
    references: ClassVar[Mapping[str, Reference]] = {}
    params: type[ChgParams] = ChgParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def seeds(self, params: ChgParams) -> Sequence[int]:
        """The seeds of a run, in the order of its arrays' first axis."""
        return range(params.first_seed, params.first_seed + params.seeds)

    def estimate(
        self,
        params: ChgParams,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes; see ``analyses.chg.estimate``."""
        return estimate(params, model, task, tokenizer=tokenizer, throughput=throughput)

    def plan(self, params: ChgParams, model: ModelInfo) -> Sequence[Piece]:
        """The pieces in order; see ``analyses.chg.plan`` for how they are cut."""
        return [work.piece for work in plan(params, model)]

    def compute(self, piece: Piece, params: ChgParams, context: Context) -> Arrays:
        """One piece: some updates of a phase, or held-out scores under one set of gates."""
        work = next(work for work in plan(params, context.model.info) if work.piece.key == piece.key)
        if work.kind == "fit":
            return _fit(work, params, context)
        return _score(work, params, context)

    def assemble(
        self, params: ChgParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        """Gates and losses [seed, ...], held-out scores [condition, seed] (``core.roles.CONDITIONS``)."""
        works = plan(params, model)
        arrays: dict[str, NDArray[Any]] = {}
        for phase in PHASES:
            fits = [work for work in works if work.kind == "fit" and work.phase == phase]
            ends = [work for work in fits if work.stop == params.steps]
            logits = np.concatenate([pieces[work.piece.key]["logits"] for work in ends])
            arrays[f"g_{phase}"] = _sigmoid(logits).astype(np.float32)
            arrays[f"loss_{phase}"] = np.concatenate(
                [
                    np.concatenate(
                        [pieces[w.piece.key]["losses"] for w in fits if w.seeds == end.seeds], axis=1
                    )
                    for end in ends
                ]
            ).astype(np.float32)
        for score in ("log_probability", "accuracy"):
            rows = [np.repeat(pieces["ungated"][score], params.seeds)]
            for phase in PHASES:
                scored = [work for work in works if work.kind == "heldout" and work.phase == phase]
                rows.append(np.concatenate([pieces[work.piece.key][score] for work in scored]))
            arrays[f"heldout_{score}"] = np.stack(rows).astype(np.float32)
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=model,
            task=_identity(task),
            seeds=tuple(self.seeds(params)),
            arrays=arrays,
            values=_values(params, task, arrays, pieces["ungated"]),
        )


def _fit(work: Work, params: ChgParams, context: Context) -> Arrays:
    from headscope.core.gating import advance

    seeds = [params.first_seed + index for index in work.seeds]
    label = seeds_label(params, work.seeds)

    def report(step: int, loss: float) -> None:
        fraction = (step - work.start) / (work.stop - work.start)
        context.report(Progress(PHASE_TITLES[work.phase], label, step, params.steps, loss, fraction))

    state = advance(
        context.model,
        _examples(params, context, "train"),
        seeds,
        _phase(work.phase, params),
        _start(work, seeds, context),
        work.stop,
        checkpoint=context.checkpoint,
        report=report,
    )
    arrays = {name: getattr(state, name).cpu().numpy() for name in _STATE}
    return {**arrays, "losses": state.losses.numpy()}


def _start(work: Work, seeds: Sequence[int], context: Context) -> FitState:
    """Where the piece begins: drawn gates, phase 0's gates with fresh moments, or where the piece before
    ended.
    """
    import torch

    from headscope.core.gating import FitState, initial_logits

    if not work.piece.needs:
        info = context.model.info
        wide = torch.float64 if context.model.dtype == torch.float64 else torch.float32
        return FitState.fresh(initial_logits(seeds, info.n_layers, info.n_heads, wide))
    before = context.pieces[work.piece.needs[0]]
    if not work.start:
        return FitState.fresh(torch.from_numpy(np.array(before["logits"])))
    logits, first, second = (torch.from_numpy(np.array(before[name])) for name in _STATE)
    return FitState(work.start, logits, first, second, torch.zeros(len(seeds), 0, dtype=torch.float64))


def _phase(name: PhaseName, params: ChgParams) -> Phase:
    from headscope.core.gating import Phase

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
    )


def _score(work: Work, params: ChgParams, context: Context) -> Arrays:
    import torch

    from headscope.core.evaluation import evaluate

    examples = _examples(params, context, "test")
    judged = context.task.judged if context.task is not None else "top"
    if work.kind == "heldout":
        group = int(work.piece.needs[0].split("/")[1].split("-")[0])
        logits = context.pieces[work.piece.needs[0]]["logits"][
            work.seeds.start - group : work.seeds.stop - group
        ]
        gates = torch.sigmoid(torch.from_numpy(np.array(logits)))
        score = evaluate(context.model, examples, gates, judged=judged, checkpoint=context.checkpoint)
        return {"log_probability": score.log_probability.numpy(), "accuracy": score.accuracy.numpy()}
    train = _examples(params, context, "train")
    score = evaluate(context.model, examples, judged=judged, checkpoint=context.checkpoint)
    return {
        "log_probability": score.log_probability.numpy(),
        "accuracy": score.accuracy.numpy(),
        "n_examples": np.array([len(train), len(examples)]),
        "n_left_out": np.array([train.n_left_out, examples.n_left_out]),
        "tokens_per_example": np.array([np.mean([len(example.tokens) for example in train])]),
        "targets_per_example": np.array([np.mean([len(example.targets) for example in train])]),
    }


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


def _identity(task: Task | None) -> dict[str, Any] | None:
    if task is None:
        return None
    return {"name": task.name, "title": task.title, "content_hash": task.content_hash, "judged": task.judged}


def _values(
    params: ChgParams, task: Task | None, arrays: Mapping[str, NDArray[Any]], ungated: Arrays
) -> dict[str, Any]:
    ran = finished(arrays["g_plus"], arrays["g_minus"])
    failed = [params.first_seed + index for index in np.flatnonzero(~ran).tolist()]
    n_train, n_test = ungated["n_examples"].tolist()
    left_out = int(ungated["n_left_out"].sum())
    notes = []
    paper = ChgParams()
    if params.steps < paper.steps:
        notes.append(
            f"{params.steps} updates a phase, where the paper uses {paper.steps}: marginal roles may differ."
        )
    if params.batch_size < paper.batch_size:
        notes.append(f"{params.batch_size} examples an update, where the paper uses {paper.batch_size}.")
    rates = (params.phase0_lr_start, params.phase0_lr_end)
    if rates != (paper.phase0_lr_start, paper.phase0_lr_end):
        notes.append(
            f"Phase 0 learns at {rates[0]:g} to {rates[1]:g}, where the paper uses "
            f"{paper.phase0_lr_start:g} to {paper.phase0_lr_end:g}."
        )
    if params.seeds < paper.seeds:
        notes.append(
            f"{params.seeds} seeds, where the paper uses {paper.seeds}: with fewer, Always comes easier."
        )
    if n_train < params.batch_size:
        notes.append(f"Only {n_train} training examples, fewer than a batch: each update uses all of them.")
    if left_out:
        notes.append(f"{left_out} rows are longer than the model's context and were left out.")
    if failed:
        notes.append(f"Seeds {', '.join(map(str, failed))} failed: their loss was not finite.")
    return {
        "n_train": n_train,
        "n_test": n_test,
        "n_left_out": left_out,
        "tokens_per_example": float(ungated["tokens_per_example"][0]),
        "targets_per_example": float(ungated["targets_per_example"][0]),
        "judged": task.judged if task is not None else "top",
        "failed_seeds": failed,
        "notes": notes,
    }


def _sigmoid(logits: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(1 / (1 + np.exp(-logits.astype(np.float64))))
