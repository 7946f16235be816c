"""Composition as an analysis: one piece, all Q, K and V scores of all pairs of heads in different layers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from headscope.analyses.base import Context, Estimate, Kept, Piece, Pieces, Spec
from headscope.analyses.composition.result import KINDS, CompositionResult
from headscope.analyses.composition.schema import CompositionParams
from headscope.analyses.costing import LOAD_SECONDS, cpu_throughput, tflop
from headscope.analyses.from_weights import processed, weights_of
from headscope.core.model.info import ModelInfo
from headscope.core.model.memory import ELEMENT_BYTES, PROGRAM_BYTES
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Refused


def estimate(
    spec: Spec[CompositionParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes; ``Refused`` (one-layer) for a model of one layer, which has no pair."""
    model, dtype = spec.model, spec.params.dtype
    _needs_two_layers(model)
    heads = model.n_layers * model.n_heads
    pairs = heads**2 / 2 * (1 - 1 / model.n_layers)
    flop = 3 * pairs * 2 * model.d_head**2 * model.d_model
    speed = throughput or cpu_throughput(dtype)
    # every earlier head's factor, and a layer's block of products with its square
    factors = heads * model.d_head * model.d_model + heads * model.d_head * model.n_heads * model.d_head
    numbers = model.n_params + 2 * factors + 6 * heads**2
    return Estimate(
        seconds=LOAD_SECONDS + flop / speed,
        peak_bytes=int(PROGRAM_BYTES + numbers * ELEMENT_BYTES[dtype]),
        basis=f"{pairs:,.0f} pairs of heads, {tflop(flop)} at {speed / 1e9:.0f} GFLOP/s",
    )


def plan(spec: Spec[CompositionParams]) -> Sequence[Piece]:
    """All pairs at once: even a model of a thousand heads takes minutes, with checkpoints between."""
    _needs_two_layers(spec.model)
    return [Piece("pairs", "All pairs of heads", partial(_pairs, spec.params))]


def assemble(spec: Spec[CompositionParams], pieces: Pieces) -> CompositionResult:
    """The pairs' scores by kind."""
    found = pieces["pairs"]
    return CompositionResult(
        **CompositionResult.header(spec, model=processed(spec)),
        **dict(zip(KINDS, found["above"], strict=True)),
        baseline=float(found["baseline"][0]),
        limits=found["limits"],
        notes=found["limits"],
    )


def _pairs(params: CompositionParams, context: Context) -> Kept:
    from headscope.core.circuits.composition import composition

    weights = weights_of(context.model, params)
    found = composition(weights, context.checkpoint, params.baseline_seed)
    return {
        "above": found.above.numpy().astype(np.float32),
        "baseline": np.array([found.baseline]),
        "limits": weights.limits,
    }


def _needs_two_layers(model: ModelInfo) -> None:
    if model.n_layers < 2:
        raise Refused(
            f"{model.name} has one layer: no head of it reads what another writes.",
            "The analyses eigen and skip-trigrams apply.",
            code="one-layer",
        )
