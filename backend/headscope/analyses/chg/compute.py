"""Causal head gating as pieces of durable work: fits, held-out scores, and the result that they join to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from headscope.analyses.base import Arrays, Context, Estimate, Piece, Reference, Result
from headscope.analyses.chg.estimate import estimate
from headscope.analyses.chg.pieces import fit, score
from headscope.analyses.chg.plan import plan
from headscope.analyses.chg.result import identity, joined, values
from headscope.analyses.chg.schema import PRESETS, ChgParams
from headscope.core.model import ModelInfo
from headscope.core.tokens import Tokenizer
from headscope.tasks.task import Task


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
            return fit(work, params, context)
        return score(work, params, context)

    def assemble(
        self, params: ChgParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        """Gates and losses [seed, ...], held-out scores [condition, seed] (``core.roles.CONDITIONS``)."""
        arrays = joined(plan(params, model), params, pieces)
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=model,
            task=identity(task),
            seeds=tuple(self.seeds(params)),
            arrays=arrays,
            values=values(params, task, arrays, pieces["ungated"]),
        )
