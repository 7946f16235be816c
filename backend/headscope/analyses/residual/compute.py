"""The residual stream as an analysis: reads, memory management, and norms on a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from headscope.analyses.base import Context, Estimate, Kept, Piece, Pieces, Spec
from headscope.analyses.costing import LOAD_SECONDS, cpu_throughput, pass_flop, tflop
from headscope.analyses.from_weights import processed, weights_of
from headscope.analyses.residual.result import ResidualResult
from headscope.analyses.residual.schema import ResidualParams
from headscope.core.model.info import ModelInfo
from headscope.core.model.memory import ELEMENT_BYTES, PROGRAM_BYTES, pass_bytes
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid


def estimate(
    spec: Spec[ResidualParams], *, tokenizer: Tokenizer | None = None, throughput: float | None = None
) -> Estimate:
    """Wall seconds and peak bytes; ``Invalid`` for a prompt that the model can't read."""
    params, model = spec.params, spec.model
    tokens = len(_ids(tokenizer, params.text, model)) if tokenizer else len(params.text) // 3 + 1
    heads, width = model.n_layers * model.n_heads, model.d_model
    written = heads * model.d_head + (model.n_layers + 2) * width
    read = 3 * heads * model.d_head + (model.n_layers + 1) * width
    mlps = max(model.n_params_non_embedding - 4 * heads * model.d_head * width, 0)
    flop = written * read * width + 2.0 * mlps * width + 4.0 * model.d_vocab * width**2
    flop += pass_flop(model, tokens)
    speed = throughput or cpu_throughput(params.dtype)
    numbers = model.n_params + model.d_vocab * width + written * width
    numbers += 2 * written * model.n_heads * model.d_head
    peak = PROGRAM_BYTES + numbers * ELEMENT_BYTES[params.dtype] + pass_bytes(model, tokens)
    return Estimate(
        seconds=LOAD_SECONDS + flop / speed,
        peak_bytes=int(peak),
        basis=f"{written:,} x {read:,} directions, {tflop(flop)} at {speed / 1e9:.0f} GFLOP/s",
    )


def plan(spec: Spec[ResidualParams]) -> Sequence[Piece]:
    """Three pieces, each by itself."""
    params = spec.params
    return [
        Piece("reads", "Who reads whom", partial(_reads, params), weight=8.0),
        Piece("memory", "Who clears what it reads", partial(_memory, params)),
        Piece("norms", "Norms along the stream", partial(_norms, params)),
    ]


def assemble(spec: Spec[ResidualParams], pieces: Pieces) -> ResidualResult:
    """All three together: what they answer has the names of the result."""
    return ResidualResult(
        **ResidualResult.header(spec, model=processed(spec)),
        **pieces["reads"],
        **pieces["memory"],
        **pieces["norms"],
        notes=pieces["reads"]["limits"],
    )


def _reads(params: ResidualParams, context: Context) -> Kept:
    from headscope.core.circuits.residual import reads

    weights = weights_of(context.model, params)
    found = reads(weights, context.checkpoint)
    return {
        "shares": found.shares.numpy().astype(np.float32),
        "written": found.norms.numpy().astype(np.float32),
        "writers": list(found.writers),
        "readers": list(found.readers),
        "limits": weights.limits,
    }


def _memory(params: ResidualParams, context: Context) -> Kept:
    from headscope.core.circuits.residual import memory

    found = memory(weights_of(context.model, params), context.checkpoint)
    return {
        "cosine": found.cosine.numpy().astype(np.float32),
        "erasing": found.erasing.numpy().astype(np.float32),
    }


def _norms(params: ResidualParams, context: Context) -> Kept:
    import torch

    from headscope.core.circuits.residual import norms

    model = context.model
    ids = _ids(model.tokenizer, params.text, model.info)
    found = norms(weights_of(model, params), ids)
    current = torch.zeros(model.info.n_layers, model.info.n_heads)

    def visit(layer: int, pattern: torch.Tensor, _: torch.Tensor | None) -> None:
        # the first token can look at nothing but itself
        current[layer] = pattern[0].diagonal(dim1=-2, dim2=-1)[:, 1:].float().mean(-1).cpu()

    with torch.no_grad(), model.reading(visit):
        model.losses(torch.tensor([ids], device=model.device))
    return {
        "stream": found.stream.numpy().astype(np.float32),
        "attention": found.attention.numpy().astype(np.float32),
        "mlp": found.mlp.numpy().astype(np.float32),
        "current": current.numpy().astype(np.float32),
    }


def _ids(tokenizer: Tokenizer, text: str, model: ModelInfo) -> list[int]:
    ids = tokenizer.encode(text)
    if not 2 <= len(ids) <= model.n_ctx:
        raise Invalid(
            f"The prompt has {len(ids)} tokens; 2 to {model.n_ctx} can be looked at.",
            "Shorten it." if len(ids) > 2 else "Write more.",
            code="too-long" if len(ids) > 2 else "too-short",
        )
    return ids
