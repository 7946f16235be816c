"""How much a pass through a model is, in FLOP and bytes. Loads no torch: estimates and plans read it too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from headscope.core.model.info import ModelInfo

ELEMENT_BYTES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}

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
class Budget:
    """What one forward pass of a micro-batch may cost. Numbers and never a clock: see
    ``core.model.batches``.
    """

    flop: float
    bytes: float

    def share(self, info: ModelInfo, n_tokens: float | int, n_targets: float | int) -> float:
        """The part of the budget that an example takes, by whichever of the two runs out first."""
        return max(
            forward_flop(info, n_tokens, n_targets) / self.flop,
            activation_bytes(info, n_tokens, n_targets) / self.bytes,
        )


CPU_BUDGET = Budget(flop=60e9, bytes=4 * 2**30)
"""A forward pass of half a second at 120 GFLOP/s, which two cores give at its size; the backward pass is as
long. Smaller ones leave the matrix units half idle.
"""

ACCELERATOR_BUDGET = Budget(flop=8e12, bytes=6 * 2**30)
"""The same at some 20 TFLOP/s, in what an 8 GiB device may spare."""


def forward_flop(info: ModelInfo, n_tokens: float | int, n_targets: float | int) -> float:
    """2 x parameters x tokens, the unembedding at target positions only. A backward to the gates costs the
    same.
    """
    return 2.0 * (info.n_params_non_embedding * n_tokens + info.d_model * info.d_vocab * n_targets)


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


def shared(before: tuple[int, Sequence[int]] | None, row: tuple[int, Sequence[int]]) -> int:
    """How many positions two rows of (owner, tokens) have in common from their beginning."""
    if before is None or before[0] != row[0]:
        return 0
    pairs = enumerate(zip(before[1], row[1], strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(before[1]), len(row[1])))
