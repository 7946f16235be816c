"""How much a pass through a model is, in FLOP and bytes. Loads no torch: estimates and plans read it too."""

from __future__ import annotations

from dataclasses import dataclass

from headscope.core.model import ModelInfo

ELEMENT_BYTES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}

_KEPT_WIDTHS = 40
"""What a layer keeps for the backward pass, in residual widths a token: measured 30 to 40 in Llama's layers.
"""

_KEPT_LOGITS = 3
"""Copies of a target's logits: themselves, in float32 or better, and their gradient."""


@dataclass(frozen=True)
class Budget:
    """What one forward pass of a micro-batch may cost. Numbers and never a clock: see ``core.batches``."""

    flop: float
    bytes: float

    def share(self, info: ModelInfo, n_tokens: int, n_targets: int) -> float:
        """The part of the budget that an example takes, by whichever of the two runs out first."""
        return max(
            forward_flop(info, n_tokens, n_targets) / self.flop,
            activation_bytes(info, n_tokens, n_targets) / self.bytes,
        )


CPU_BUDGET = Budget(flop=60e9, bytes=4 * 2**30)
"""A forward pass below half a second at 100 GFLOP/s; the backward pass is as long."""

ACCELERATOR_BUDGET = Budget(flop=8e12, bytes=6 * 2**30)
"""The same at some 20 TFLOP/s, in what an 8 GiB device may spare."""


def forward_flop(info: ModelInfo, n_tokens: float | int, n_targets: float | int) -> float:
    """2 x parameters x tokens, the unembedding at target positions only. A backward to the gates costs the
    same.
    """
    return 2.0 * (info.n_params_non_embedding * n_tokens + info.d_model * info.d_vocab * n_targets)


def activation_bytes(info: ModelInfo, n_tokens: float | int, n_targets: float | int) -> float:
    """What a forward pass keeps for its backward pass, roughly and rather too much."""
    size = ELEMENT_BYTES[info.dtype]
    widths = _KEPT_WIDTHS * info.n_layers * info.d_model * n_tokens * size
    return float(widths + _KEPT_LOGITS * info.d_vocab * n_targets * max(size, 4))
