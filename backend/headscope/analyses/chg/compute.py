"""Causal head gating as pieces of durable work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from headscope.analyses.base import Arrays, Context, Estimate, Piece, Result
from headscope.analyses.chg.schema import PRESETS, ChgParams
from headscope.core.model import ModelInfo
from headscope.tasks.task import Task


class CausalHeadGating:
    """Fits one gate per head, pushed open and pushed shut, over many seeds [arXiv 2505.13737]."""

    name: ClassVar[str] = "chg"
    title: ClassVar[str] = "Causal head gating"
    summary: ClassVar[str] = "Which heads the task needs, which harm it, and which don't matter."
    version: ClassVar[int] = 1
    needs_task: ClassVar[bool] = True
    attention: ClassVar[str] = "sdpa"
    params: type[ChgParams] = ChgParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def seeds(self, params: ChgParams) -> Sequence[int]:
        """The seeds of a run, in the order of its arrays' first axis."""
        return range(params.first_seed, params.first_seed + params.seeds)

    def estimate(self, params: ChgParams, model: ModelInfo, task: Task | None) -> Estimate:
        raise NotImplementedError

    def plan(self, params: ChgParams, model: ModelInfo) -> Sequence[Piece]:
        raise NotImplementedError

    def compute(self, piece: Piece, params: ChgParams, context: Context) -> Arrays:
        raise NotImplementedError

    def assemble(
        self, params: ChgParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        raise NotImplementedError
