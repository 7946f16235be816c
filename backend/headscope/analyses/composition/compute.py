"""Composition as an analysis: one piece, all Q, K and V scores of all pairs of heads in different layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.base import Arrays, Context, Estimate, Piece, Result
from headscope.analyses.composition.schema import PRESETS, CompositionParams
from headscope.analyses.costing import LOAD_SECONDS, PROGRAM_BYTES, cpu_throughput, tflop
from headscope.analyses.from_weights import (
    FromWeights,
    head_name,
    limits_array,
    limits_list,
    processed,
    weights_of,
)
from headscope.core.model.cost import ELEMENT_BYTES
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Refused
from headscope.tasks.task import Task

KINDS = ("q", "k", "v")


class Composition(FromWeights):
    """Q, K and V composition of every pair, random matrices' mean subtracted [A Mathematical Framework]."""

    name: ClassVar[str] = "composition"
    title: ClassVar[str] = "Composition"
    summary: ClassVar[str] = "Which later heads read what which earlier heads write."
    version: ClassVar[int] = 1
    params: type[CompositionParams] = CompositionParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def estimate(
        self,
        params: CompositionParams,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes; ``Refused`` for a model of one layer, which has no pair."""
        _needs_two_layers(model)
        heads = model.n_layers * model.n_heads
        pairs = heads**2 / 2 * (1 - 1 / model.n_layers)
        flop = 3 * pairs * 2 * model.d_head**2 * model.d_model
        speed = throughput or cpu_throughput(params.dtype)
        size = ELEMENT_BYTES[params.dtype]
        # every earlier head's factor, and a layer's block of products with its square
        factors = heads * model.d_head * model.d_model + heads * model.d_head * model.n_heads * model.d_head
        return Estimate(
            seconds=LOAD_SECONDS + flop / speed,
            peak_bytes=int(PROGRAM_BYTES + (model.n_params + 2 * factors + 6 * heads**2) * size),
            basis=f"{pairs:,.0f} pairs of heads, {tflop(flop)} at {speed / 1e9:.0f} GFLOP/s",
        )

    def plan(self, params: CompositionParams, model: ModelInfo) -> Sequence[Piece]:
        """All pairs at once: even a model of a thousand heads takes minutes, with checkpoints between."""
        _needs_two_layers(model)
        return [Piece("pairs", "All pairs of heads")]

    def compute(self, piece: Piece, params: CompositionParams, context: Context) -> Arrays:
        """Scores [kind, layer, head, layer, head] above the baseline."""
        from headscope.core.circuits.composition import composition

        weights = weights_of(context.model, params)
        found = composition(weights, context.checkpoint, params.baseline_seed)
        return {
            "above": found.above.numpy().astype(np.float32),
            "baseline": np.array([found.baseline]),
            "limits": limits_array(weights.limits),
        }

    def assemble(
        self, params: CompositionParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        """``q``, ``k``, ``v`` [earlier layer, head, later layer, head] above the baseline; NaN elsewhere."""
        found = pieces["pairs"]
        limits = limits_list(found["limits"])
        arrays: dict[str, NDArray[Any]] = dict(zip(KINDS, found["above"], strict=True))
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=processed(model, params),
            task=None,
            seeds=(),
            arrays=arrays,
            values={"baseline": float(found["baseline"][0]), "limits": limits, "notes": limits},
        )

    def headline(self, result: Result) -> dict[str, Any]:
        """The strongest pair of each kind, and what random matrices would score."""
        numbers: dict[str, Any] = {}
        for kind in KINDS:
            scores = result.arrays[kind]
            place = np.unravel_index(np.nanargmax(scores), scores.shape)
            pair = f"{head_name(place[:2])} → {head_name(place[2:])}"
            numbers |= {f"strongest_{kind}_pair": pair, f"strongest_{kind}_score": float(scores[place])}
        return numbers | {"baseline": float(result.values["baseline"])}


def _needs_two_layers(model: ModelInfo) -> None:
    if model.n_layers < 2:
        raise Refused(
            f"{model.name} has one layer: no head of it reads what another writes.",
            "The analyses eigen and skip-trigrams apply.",
            code="one-layer",
        )
