"""Weights that are no numbers spoil every pass in silence: they are found when a model is loaded, by name."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from headscope.errors import Invalid


def check_finite(module: nn.Module, folder: Path) -> None:
    """Raise Invalid (bad-weights) naming the first tensor that holds NaN or an infinite value."""
    for name, weights in module.named_parameters():
        least, most = torch.aminmax(weights.detach()) if weights.numel() else (0.0, 0.0)
        if not (float("-inf") < float(least) and float(most) < float("inf")):  # NaN compares with nothing
            wrong = int((~torch.isfinite(weights)).sum())
            raise Invalid(
                f"The weights in {folder} are damaged: {wrong:,} of {weights.numel():,} values of {name} are "
                f"NaN or infinite in {str(weights.dtype).removeprefix('torch.')}.",
                "Copy or fetch the model again. Weights too large for float16 load as float32 or bfloat16.",
                code="bad-weights",
            )
