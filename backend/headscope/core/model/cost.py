"""How much arithmetic a pass through a model is, and what a micro-batch may cost. Loads no torch."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from headscope.core.model.info import ModelInfo
from headscope.core.model.memory import activation_bytes


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


def shared(before: tuple[Hashable, Sequence[int]] | None, row: tuple[Hashable, Sequence[int]]) -> int:
    """How many positions two rows of (owner, tokens) have in common from their beginning."""
    if before is None or before[0] != row[0]:
        return 0
    pairs = enumerate(zip(before[1], row[1], strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(before[1]), len(row[1])))
