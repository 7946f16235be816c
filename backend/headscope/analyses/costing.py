"""What estimates are made of: speed of a machine that nobody measured, costs beside the arithmetic."""

from __future__ import annotations

from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo

CPU_THROUGHPUT = 100e9
"""FLOP/s of two cores in float32, measured on SmolLM2-135M; workers may know their own."""

LAYER_OVERHEAD = 0.5e-3
"""Seconds a layer and pass, beside the arithmetic."""

LOAD_SECONDS = 6.0

NOMINAL_TOKENS = 24.0
"""Tokens taken for an example, whose true length isn't known before it meets a tokenizer."""

_SLOWER = {"float32": 1.0, "bfloat16": 1.0, "float64": 2.0}


def cpu_throughput(dtype: str) -> float:
    """FLOP/s of two cores in this precision."""
    return CPU_THROUGHPUT / _SLOWER[dtype]


def tflop(flop: float) -> str:
    """Arithmetic in words: "23.9 TFLOP", "10,300 TFLOP"."""
    tera = flop / 1e12
    return f"{tera:,.0f} TFLOP" if tera >= 100 else f"{tera:.3g} TFLOP"


def pass_flop(model: ModelInfo, tokens: float | int) -> float:
    """A forward pass that reads every pattern and every token's loss: attention grows with tokens squared."""
    attention = 4.0 * model.n_layers * model.n_heads * model.d_head * tokens**2
    return forward_flop(model, tokens, tokens) + attention
