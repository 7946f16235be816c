"""The residual stream as an analysis: reads, memory management, and norms on a prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.base import Arrays, Estimate, Result, Spec
from headscope.analyses.costing import (
    LOAD_SECONDS,
    PROGRAM_BYTES,
    cpu_throughput,
    pass_bytes,
    pass_flop,
    tflop,
)
from headscope.analyses.from_weights import (
    FromWeights,
    head_name,
    limits_array,
    limits_list,
    processed,
    weights_of,
)
from headscope.analyses.legacy import Context, Piece
from headscope.analyses.residual.schema import PRESETS, ResidualParams
from headscope.core.model.cost import ELEMENT_BYTES
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid
from headscope.tasks.task import Task


class Residual(FromWeights):
    """The stream as a channel and a memory [A Mathematical Framework for Transformer Circuits, 2021]."""

    name: ClassVar[str] = "residual"
    title: ClassVar[str] = "Residual stream"
    summary: ClassVar[str] = "Who writes to the residual stream, who reads it, and who clears it."
    version: ClassVar[int] = 1
    params: type[ResidualParams] = ResidualParams
    presets: Mapping[str, Mapping[str, Any]] = PRESETS

    def estimate(
        self,
        params: ResidualParams,
        model: ModelInfo,
        task: Task | None,
        *,
        tokenizer: Tokenizer | None = None,
        throughput: float | None = None,
    ) -> Estimate:
        """Wall seconds and peak bytes; ``Invalid`` for a prompt that the model can't read."""
        tokens = len(_ids(tokenizer, params.text, model)) if tokenizer else len(params.text) // 3 + 1
        heads, width = model.n_layers * model.n_heads, model.d_model
        written = heads * model.d_head + (model.n_layers + 2) * width
        read = 3 * heads * model.d_head + (model.n_layers + 1) * width
        mlps = max(model.n_params_non_embedding - 4 * heads * model.d_head * width, 0)
        flop = written * read * width + 2.0 * mlps * width + 4.0 * model.d_vocab * width**2
        flop += pass_flop(model, tokens)
        speed = throughput or cpu_throughput(params.dtype)
        size = ELEMENT_BYTES[params.dtype]
        return Estimate(
            seconds=LOAD_SECONDS + flop / speed,
            peak_bytes=int(
                PROGRAM_BYTES
                + (model.n_params + model.d_vocab * width + written * width) * size
                + 2 * written * model.n_heads * model.d_head * size
                + pass_bytes(model, tokens)
            ),
            basis=f"{written:,} x {read:,} directions, {tflop(flop)} at {speed / 1e9:.0f} GFLOP/s",
        )

    def plan(self, params: ResidualParams, model: ModelInfo) -> Sequence[Piece]:
        """Three pieces, each by itself."""
        return [
            Piece("reads", "Who reads whom", weight=8.0),
            Piece("memory", "Who clears what it reads"),
            Piece("norms", "Norms along the stream"),
        ]

    def compute(self, piece: Piece, params: ResidualParams, context: Context) -> Arrays:
        """One piece's arrays."""
        return {"reads": _reads, "memory": _memory, "norms": _norms}[piece.key](params, context)

    def assemble(
        self, params: ResidualParams, model: ModelInfo, task: Task | None, pieces: Mapping[str, Arrays]
    ) -> Result:
        """``shares`` [writer, reader] with names in ``values``; ``written`` [writer]; ``cosine`` [layer,
        neuron]; ``erasing``, ``current`` [layer, head]; ``stream`` [place, pos], ``attention``, ``mlp``
        [layer, pos].
        """
        arrays: dict[str, NDArray[Any]] = {}
        for piece in pieces.values():
            arrays |= {name: array for name, array in piece.items() if array.dtype == np.float32}
        limits = limits_list(pieces["reads"]["limits"])
        return Result(
            analysis=self.name,
            schema_version=self.version,
            params=params.model_dump(mode="json"),
            model=processed(Spec(params, model)),
            task=None,
            seeds=(),
            other_arrays=arrays,
            other_values={
                "writers": limits_list(pieces["reads"]["writers"]),
                "readers": limits_list(pieces["reads"]["readers"]),
                "limits": limits,
                "notes": limits,
            },
        )

    def headline(self, result: Result) -> dict[str, Any]:
        """The head that clears most, the neurons that do, and how much the stream grows."""
        erasing = result.arrays["erasing"]
        place = np.unravel_index(int(np.nan_to_num(erasing, nan=-2).argmax()), erasing.shape)
        stream = result.arrays["stream"].mean(axis=1)
        return {
            "most_erasing_head": head_name(place),
            "most_erasing_score": float(erasing[place]),
            "clearing_neurons": int((result.arrays["cosine"] < -0.5).sum()),
            "stream_grows_by": float(stream[-1] / max(float(stream[0]), 1e-30)),
        }


def _reads(params: ResidualParams, context: Context) -> Arrays:
    from headscope.core.circuits.residual import reads

    weights = weights_of(context.model, params)
    found = reads(weights, context.checkpoint)
    return {
        "shares": found.shares.numpy().astype(np.float32),
        "written": found.norms.numpy().astype(np.float32),
        "writers": limits_array(list(found.writers)),
        "readers": limits_array(list(found.readers)),
        "limits": limits_array(weights.limits),
    }


def _memory(params: ResidualParams, context: Context) -> Arrays:
    from headscope.core.circuits.residual import memory

    found = memory(weights_of(context.model, params), context.checkpoint)
    return {
        "cosine": found.cosine.numpy().astype(np.float32),
        "erasing": found.erasing.numpy().astype(np.float32),
    }


def _norms(params: ResidualParams, context: Context) -> Arrays:
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
