"""A norm between the residual stream and what reads it, as a linear map and a scale.

norm(x) = s(x) C(x) * w + b. For LayerNorm C(x) = x - mean(x) and s = 1 / sqrt(var(x) + eps); for RMSNorm
C(x) = x and s = 1 / sqrt(mean(x^2) + eps). w, b and whether it centres are measured on the norm itself: a
vector of +1 and -1 has mean 0 and variance 1, so norm gives it back as +w / sqrt(1 + eps) + b. So Gemma's
1 + w, or any other form, needs no case of its own.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any, Final

import torch
from jaxtyping import Float
from torch import nn

from headscope.errors import Refused

_ENDLESS: Final = 1e12
"""The epsilon of what stands in a norm's place and norms nothing: beside it no variance counts."""


@dataclass(frozen=True)
class Fold:
    """The linear part of a norm: x -> (x - mean(x) if ``centred``) * scale + shift."""

    scale: Float[torch.Tensor, " d_model"]
    shift: Float[torch.Tensor, " d_model"]
    centred: bool

    def reader(
        self, matrix: Float[torch.Tensor, "*batch d_model n"]
    ) -> Float[torch.Tensor, "*batch d_model n"]:
        """C diag(w) W: what reads the stream itself as W reads the norm's output."""
        scaled = self.scale[:, None] * matrix
        return scaled - scaled.mean(-2, keepdim=True) if self.centred else scaled

    def rows(self, vectors: Float[torch.Tensor, "*batch d_model"]) -> Float[torch.Tensor, "*batch d_model"]:
        """x C diag(w), without the shift."""
        centred = vectors - vectors.mean(-1, keepdim=True) if self.centred else vectors
        return centred * self.scale


def measure_norm(norm: Any, d_model: int) -> Fold:
    """A norm's linear part, from what it does to the zero vector and to +1, -1, +1, ... in float64."""
    module = original(norm)
    probe = _probe(d_model)
    if d_model % 2:
        raise Refused(
            f"A stream of {d_model} numbers can't be probed.",
            "Choose a model of even width.",
            code="odd-width",
        )
    twin = copy.deepcopy(module).cpu().double().eval()
    with torch.no_grad():
        shift = twin(torch.zeros_like(probe))[0, 0].double()
        scale = (twin(probe)[0, 0].double() - shift) * probe[0, 0] * math.sqrt(1 + epsilon(module, d_model))
        moved = twin(probe + 2)[0, 0].double()
    centred = bool((moved - shift - scale * probe[0, 0]).abs().max() <= 1e-3 * scale.abs().max())
    device = next(iter(module.parameters()), torch.zeros(())).device
    return Fold(scale.to(device), shift.to(device), centred)


def epsilon(norm: Any, width: int) -> float:
    """What a norm of vectors of this width adds to the variance: what it says, or measured where it says
    nothing (OLMo), from norm(c v) = c / sqrt(c^2 + eps) of two sizes c of a vector v of +1 and -1.
    """
    module = original(norm)
    for name in ("variance_epsilon", "eps"):
        if isinstance(getattr(module, name, None), float):
            return float(getattr(module, name))
    twin = copy.deepcopy(module).cpu().double().eval()
    probe, small = _probe(width), 1e-2
    with torch.no_grad():
        shift = twin(torch.zeros_like(probe))
        whole, less = (float((twin(probe * size) - shift).norm()) for size in (1.0, small))
    ratio = (whole / less) ** 2
    left = 1 - ratio * small**2  # 0 where nothing is normed, give or take rounding
    return max(0.0, small**2 * (ratio - 1) / left) if left > 1e-9 else _ENDLESS


def norm_scale(norm: Any, stream: Float[torch.Tensor, "*batch d_model"]) -> Float[torch.Tensor, "*batch"]:
    """s(x) of a norm: 1 / sqrt(mean square of what is left after centring + epsilon)."""
    fold = measure_norm(norm, stream.shape[-1])
    centred = stream - stream.mean(-1, keepdim=True) if fold.centred else stream
    return (centred.square().mean(-1) + epsilon(norm, stream.shape[-1])).rsqrt()


def _probe(width: int) -> Float[torch.Tensor, "1 1 width"]:
    probe = torch.ones(1, 1, width, dtype=torch.float64)
    probe[..., 1::2] = -1
    return probe


def original(component: Any) -> nn.Module:
    """The architecture's own module beneath a bridge's component."""
    module: nn.Module = getattr(component, "original_component", component)
    return module
