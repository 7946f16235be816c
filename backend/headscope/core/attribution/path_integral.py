"""Integrated gradients, refined until they account for what they integrate.

Along the path on which all heads open together, g = (a, a, ... a), the integral of -dL/dg_h is head h's part
of what opening them gains, and over heads the parts sum to L(0) - L(1) [Sundararajan et al. 2017,
completeness]. The same holds of any stretch of the path, whose losses at both ends are known: so each
stretch's error is known too, not estimated.

1. The whole path is one stretch, integrated by so many Gauss-Legendre nodes.
2. An example has converged once the errors of its stretches, all taken as positive, add up to at most the
   ``tolerance``, a share of what opening all heads changes its loss by (of 1 nat, where that is less).
3. Of each example that hasn't, the stretch of the largest error is halved and each half integrated anew,
   until it has, or as many gradients were taken of it as may be: the loss can rise and fall all along.

Each example is refined for itself, whatever others are measured with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float64

from headscope.core.attribution.relatives import Checkpoint, attribution_patching, losses_at
from headscope.core.gating.replacements import Replacements
from headscope.core.model.batches import Scored
from headscope.core.model.head_model import HeadModel

_LEAST_GAIN = 1.0
"""Nats: an example whose loss hardly changes is held to a share of this."""


@dataclass(frozen=True)
class PathIntegral:
    """Each example's parts, nats, and whether they converged."""

    parts: Float64[torch.Tensor, "example layer head"]
    converged: Bool[torch.Tensor, " example"]


@dataclass(frozen=True, eq=False)
class _Stretch:
    """Of one example's path, from gates at ``start`` to ``stop``, with the losses at both."""

    example: int
    start: float
    stop: float
    losses: tuple[float, float]
    parts: Float64[torch.Tensor, "layer head"]

    @property
    def error(self) -> float:
        """By how much the parts miss the fall of the loss, nats."""
        return abs(float(self.parts.sum()) - (self.losses[0] - self.losses[1]))


def integrated_gradients(
    model: HeadModel,
    examples: Sequence[Scored],
    losses: tuple[Float64[torch.Tensor, " example"], Float64[torch.Tensor, " example"]],
    points: int,
    checkpoint: Checkpoint = lambda: None,
    replacements: Replacements | None = None,
    *,
    most: int = 128,
    tolerance: float = 0.02,
) -> PathIntegral:
    """The parts of all heads, from the examples' ``losses`` with all heads closed and all open.

    ``points`` are the nodes of a stretch, ``most`` the gradients taken of an example: with no more than two
    stretches' the whole path stays one.
    """
    path = _Path(model, examples, checkpoint, replacements)
    ends = list(zip(losses[0].tolist(), losses[1].tolist(), strict=True))
    first = [(example, 0.0, 1.0, each) for example, each in enumerate(ends)]
    stretches = path.integrated(first, points)
    of: list[list[_Stretch]] = [[stretch] for stretch in stretches]
    while halved := [
        each for each, end in zip(of, ends, strict=True) if _unfinished(each, end, points, most, tolerance)
    ]:
        worst = [max(each, key=lambda stretch: stretch.error) for each in halved]
        halves = path.integrated(path.halves(worst), points)
        for each, gone in zip(halved, worst, strict=True):
            each.remove(gone)
        for half in halves:
            of[half.example].append(half)
    nothing = torch.zeros(0, model.info.n_layers, model.info.n_heads, dtype=torch.float64)
    parts = [torch.stack([stretch.parts for stretch in each]).sum(0) for each in of]
    return PathIntegral(
        torch.stack(parts) if parts else nothing,
        torch.tensor(
            [_converged(each, end, tolerance) for each, end in zip(of, ends, strict=True)], dtype=torch.bool
        ),
    )


def _converged(stretches: Sequence[_Stretch], losses: tuple[float, float], tolerance: float) -> bool:
    allowed = tolerance * max(abs(losses[0] - losses[1]), _LEAST_GAIN)
    return sum(stretch.error for stretch in stretches) <= allowed


def _unfinished(
    stretches: Sequence[_Stretch], losses: tuple[float, float], points: int, most: int, tolerance: float
) -> bool:
    """Whether an example needs, and may have, another halving: n stretches took 2 n - 1 integrals."""
    taken = (2 * len(stretches) - 1) * points
    return taken + 2 * points <= most and not _converged(stretches, losses, tolerance)


_Ends = tuple[int, float, float, tuple[float, float]]
"""Example, start, stop, losses at both."""


@dataclass(frozen=True)
class _Path:
    """What stretches are measured with."""

    model: HeadModel
    examples: Sequence[Scored]
    checkpoint: Checkpoint
    replacements: Replacements | None

    def halves(self, worst: Sequence[_Stretch]) -> list[_Ends]:
        """Both halves of each stretch."""
        middles = torch.tensor([(each.start + each.stop) / 2 for each in worst], dtype=torch.float64)
        rows = [self.examples[each.example] for each in worst]
        losses = losses_at(self.model, rows, middles, self.checkpoint, self.replacements)
        return [
            ends
            for each, middle, loss in zip(worst, middles.tolist(), losses.tolist(), strict=True)
            for ends in (
                (each.example, each.start, middle, (each.losses[0], loss)),
                (each.example, middle, each.stop, (loss, each.losses[1])),
            )
        ]

    def integrated(self, ends: Sequence[_Ends], points: int) -> list[_Stretch]:
        """Stretches with their parts, by ``points`` gradients each."""
        nodes, weights = np.polynomial.legendre.leggauss(points)
        rows = [self.examples[example] for example, *_ in ends]
        start = torch.tensor([each[1] for each in ends], dtype=torch.float64)
        width = torch.tensor([each[2] for each in ends], dtype=torch.float64) - start
        heads = self.model.info.n_layers, self.model.info.n_heads
        parts = torch.zeros(len(rows), *heads, dtype=torch.float64)
        for node, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
            opened = start + width * (node + 1) / 2
            _, slope = attribution_patching(self.model, rows, opened, self.checkpoint, self.replacements)
            parts += slope * (width * weight / 2)[:, None, None]
        return [_Stretch(*each, part) for each, part in zip(ends, parts, strict=True)]
