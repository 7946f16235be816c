"""Contrastive causal head gating as pieces of durable work [arXiv 2505.13737, section 5]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from headscope.analyses.base import (
    Arrays,
    Estimate,
    Input,
    Result,
)
from headscope.analyses.cchg.estimate import estimate
from headscope.analyses.cchg.pieces import fitted, plain, scored, ungated
from headscope.analyses.cchg.plan import plan
from headscope.analyses.cchg.result import joined, values
from headscope.analyses.cchg.schema import PRESETS, CchgParams
from headscope.analyses.cchg.tasks import gating_run, named
from headscope.analyses.legacy import Context, Piece, Reference
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.tasks.task import Task


class ContrastiveGating:
    """Fits one gate per head that keeps some tasks and takes others away, both ways, over many seeds."""

    name: ClassVar[str] = "cchg"
    title: ClassVar[str] = "Contrastive gating"
    summary: ClassVar[str] = "Which heads one task, or form of a task, needs and another doesn't."
    version: ClassVar[int] = 1
    needs_task: ClassVar[bool] = False
    attention: ClassVar[str] = "sdpa"
    references: ClassVar[Mapping[str, Reference]] = {
        "retain": "tasks",
        "forget": "tasks",
        "held_out_retain": "tasks",
        "held_out_forget": "tasks",
        "gating": "run",
    }
    params: type[CchgParams] = CchgParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def seeds(self, params: CchgParams) -> Sequence[int]:
        """The seeds of each fit, in the order of its arrays' first axis."""
        return range(params.first_seed, params.first_seed + params.seeds)

    def estimate(
        self,
        params: CchgParams,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
        inputs: Mapping[str, Input] | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes; raises what ``tasks.named`` and ``tasks.gating_run`` do."""
        gating_run(inputs)
        return estimate(params, model, named(inputs), tokenizer=tokenizer, throughput=throughput)

    def plan(
        self, params: CchgParams, model: ModelInfo, inputs: Mapping[str, Input] | None = None
    ) -> Sequence[Piece]:
        """The pieces in order; see ``analyses.cchg.plan``. Raises what ``tasks.named`` does."""
        named(inputs)
        return [work.piece for work in plan(params, model)]

    def compute(self, piece: Piece, params: CchgParams, context: Context) -> Arrays:
        """One piece: a task without gates, the plain gates, some updates, or a task under gates."""
        work = next(work for work in plan(params, context.model.info) if work.piece.key == piece.key)
        if work.kind == "task":
            return ungated(work, params, context)
        if work.kind == "plain":
            return plain(params, context)
        return fitted(work, params, context) if work.kind == "fit" else scored(work, params, context)

    def assemble(
        self, params: CchgParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        """All fits' gates, curves and held-out scores; see ``analyses.cchg.result.joined``."""
        works = plan(params, model)
        arrays = joined(works, params, pieces)
        seeds = tuple(self.seeds(params))
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=model,
            task=None,
            seeds=seeds,
            other_arrays=arrays,
            other_values=values(works, params, seeds, arrays, pieces),
        )

    def headline(self, result: Result) -> dict[str, Any]:
        """How far the sets come apart, as named and exchanged."""
        first, second = result.values["fits"][:2]
        return {
            "retained_keeps": first["kept"],
            "forgotten_keeps": first["left"],
            "seeds_that_set_apart": first["seeds_apart"],
            "exchanged_retained_keeps": second["kept"],
            "exchanged_forgotten_keeps": second["left"],
        }
