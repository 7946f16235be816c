"""How much arithmetic a pass through a model is, in FLOP. Loads no torch: estimates and plans read it too."""

from __future__ import annotations

from headscope.core.model import ModelInfo

CPU_BUDGET = 40e9
"""FLOP of one forward pass of a micro-batch on a CPU: below half a second at 100 GFLOP/s; the backward is as
long.
"""

ACCELERATOR_BUDGET = 8e12
"""The same on an accelerator, at some 20 TFLOP/s."""


def forward_flop(info: ModelInfo, n_tokens: float | int, n_targets: float | int) -> float:
    """2 x parameters x tokens, the unembedding at target positions only. A backward to the gates costs the
    same.
    """
    return 2.0 * (info.n_params_non_embedding * n_tokens + info.d_model * info.d_vocab * n_targets)
