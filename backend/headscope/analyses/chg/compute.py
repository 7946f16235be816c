"""Causal head gating as pieces of durable work: fits, held-out scores, and the result that they join to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from headscope.analyses.base import (
    Arrays,
    Estimate,
    Input,
    Result,
)
from headscope.analyses.chg.earlier import VERSION, count, taken_over
from headscope.analyses.chg.estimate import estimate
from headscope.analyses.chg.pieces import fit, score, ungated
from headscope.analyses.chg.plan import Work, plan
from headscope.analyses.chg.result import identity, joined, values, whole
from headscope.analyses.chg.schema import PRESETS, ChgParams
from headscope.analyses.legacy import Context, Piece, Reference
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.tasks.task import Task


class CausalHeadGating:
    """Fits one gate per head, pushed open and pushed shut, over many seeds [arXiv 2505.13737]."""

    name: ClassVar[str] = "chg"
    title: ClassVar[str] = "Causal head gating"
    summary: ClassVar[str] = "Which heads the task needs, which harm it, and which don't matter."
    version: ClassVar[int] = VERSION
    needs_task: ClassVar[bool] = True
    attention: ClassVar[str] = "sdpa"
    references: ClassVar[Mapping[str, Reference]] = {"adds_to": "run"}
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
        inputs: Mapping[str, Input] | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes of the seeds that are fitted (see ``analyses.chg.estimate``).

        Raises what ``analyses.chg.earlier.taken_over`` does.
        """
        run = taken_over(params, inputs, task)
        fitted = params.model_copy(update={"seeds": params.seeds - (len(run.seeds) if run else 0)})
        return estimate(fitted, model, task, tokenizer=tokenizer, throughput=throughput)

    def plan(
        self, params: ChgParams, model: ModelInfo, inputs: Mapping[str, Input] | None = None
    ) -> Sequence[Piece]:
        """The pieces in order; see ``analyses.chg.plan`` for how they are cut.

        Raises what ``analyses.chg.earlier.taken_over`` does.
        """
        return [work.piece for work in plan(params, model, count(params, inputs))]

    def compute(self, piece: Piece, params: ChgParams, context: Context) -> Arrays:
        """One piece: some updates of a phase, held-out scores, or the arrays of the seeds taken over."""
        run = taken_over(params, context.inputs, context.task)
        works = plan(params, context.model.info, len(run.seeds) if run else 0)
        work = next(work for work in works if work.piece.key == piece.key)
        if run is not None and work.kind == "earlier":
            return run.arrays
        if work.kind == "ungated":
            return ungated(params, context)
        return fit(work, params, context) if work.kind == "fit" else score(work, params, context)

    def assemble(
        self, params: ChgParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        """All seeds' gates, losses and held-out scores; see ``analyses.chg.result.joined``."""
        return self._result(params, model, task, pieces, _works(params, model, pieces))

    def partial(
        self, params: ChgParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result | None:
        """The seeds of which nothing is missing, as a result of their own; None where there are none."""
        if "ungated" not in pieces or (params.adds_to is not None and "earlier" not in pieces):
            return None
        works = whole(_works(params, model, pieces), pieces)
        if not works and "earlier" not in pieces:
            return None
        return self._result(params, model, task, pieces, works)

    def _result(
        self,
        params: ChgParams,
        model: ModelInfo,
        task: Task | None,
        pieces: Mapping[str, Arrays],
        works: Sequence[Work],
    ) -> Result:
        arrays = joined(works, params, pieces)
        seeds = self.seeds(params)[: len(arrays["g_plus"])]
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=model,
            task=identity(task),
            seeds=tuple(seeds),
            other_arrays=arrays,
            other_values=values(params, task, seeds, arrays, pieces),
        )


def _works(params: ChgParams, model: ModelInfo, pieces: Mapping[str, Arrays]) -> Sequence[Work]:
    earlier = len(pieces["earlier"]["g_plus"]) if params.adds_to is not None else 0
    return plan(params, model, earlier)
