"""How much memory a model's work takes, in bytes: one budget for estimates, admission and the lab.

    a run   = the program + the weights + what its work holds beside them
    a pass  = one layer's activations + its patterns where they exist + the logits that are kept

Loads no torch: the web and the command line estimate too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from headscope.core.model.info import ModelInfo

ELEMENT_BYTES: Final = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}

PROGRAM_BYTES: Final = 600 * 2**20
"""The interpreter with PyTorch and TransformerLens loaded."""

_KEPT_STREAMS, _KEPT_HEADS, _KEPT_PATTERNS = 2, 9, 1.5
"""What a layer keeps of a token for the backward pass: its stream before attention and before the MLP;
queries, keys, values and z, turned, spread to rows and gated, in widths of all heads; patterns where they are
made. Measured on SmolLM2 and headscope-2l.
"""

_EAGER = frozenset({"Gemma2ForCausalLM", "GptOssForCausalLM", "HeadscopeAttentionOnly"})
"""Architectures whose patterns exist: soft caps, sinks, or no fused attention."""

_KEPT_LOGITS = 3
"""Copies of a target's logits: themselves, in float32 or better, and their gradient."""


@dataclass(frozen=True)
class Alive:
    """What a layer holds at once without gradients: residual widths a token, copies of its patterns."""

    widths: int
    patterns: int


EXPECTED: Final = Alive(widths=12, patterns=3)
"""As measured: for estimates."""

AT_MOST: Final = Alive(widths=40, patterns=5)
"""For what is refused beforehand: the MLP's three widths and the heads' four, with their copies; scores,
masked, softened, and what a reader makes of them.
"""


def weight_bytes(info: ModelInfo, dtype: str | None = None) -> int:
    """A model's weights, in its own precision or another."""
    return info.n_params * ELEMENT_BYTES[dtype or info.dtype]


def run_bytes(info: ModelInfo, working: float = 0, dtype: str | None = None) -> int:
    """A run's peak, where its work holds ``working`` bytes beside the program and the weights."""
    return int(PROGRAM_BYTES + weight_bytes(info, dtype) + working)


def pass_bytes(
    info: ModelInfo,
    n_tokens: float | int,
    alive: Alive = EXPECTED,
    *,
    patterns: bool = True,
    logits: int = 2,
) -> float:
    """A forward pass without gradients over one text.

    ``patterns``: whether attention patterns exist. ``logits``: how many copies of all positions' logits are
    kept, the first in the model's precision, others in float32.
    """
    size = ELEMENT_BYTES[info.dtype]
    layer = alive.widths * n_tokens * info.d_model * size
    pattern = alive.patterns * info.n_heads * n_tokens**2 * max(size, 4) if patterns else 0
    logit = size + 4 * (logits - 1) if logits else 0
    return n_tokens * info.d_vocab * logit + layer + pattern


def activation_bytes(info: ModelInfo, n_tokens: float | int, n_targets: float | int) -> float:
    """What a forward pass over so many tokens of one row keeps for its backward pass."""
    size = ELEMENT_BYTES[info.dtype]
    heads = info.n_heads * info.d_head
    attention = 2 * info.d_model * (heads + info.n_kv_heads * info.d_head)
    # The MLP's parameters over d_model: 3 hidden widths of a gated one, which keeps as many.
    mlp = max(0.0, info.n_params_non_embedding / info.n_layers - attention) / info.d_model
    numbers = _KEPT_STREAMS * info.d_model + _KEPT_HEADS * heads + mlp
    if info.architecture in _EAGER:
        numbers += _KEPT_PATTERNS * info.n_heads * n_tokens
    logits = _KEPT_LOGITS * info.d_vocab * n_targets * max(size, 4)
    return float(info.n_layers * n_tokens * numbers * size + logits)


def unembedding_bytes(info: ModelInfo) -> int:
    """Most that a look-up in the weights holds: a folded unembedding in float32, and copies on the way."""
    return 3 * info.d_vocab * info.d_model * 4
