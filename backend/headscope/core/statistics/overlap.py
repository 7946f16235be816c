"""Whether two tasks of one model use the same heads.

Each task gives every head a weight in [0, 1]: 1 where it has the role and 0 where it doesn't (Always, Any),
or the share of seeds that gave it the role. With weights a and b over H heads:

    both        = sum(a b)              first only = sum(a (1 - b))
    second only = sum((1 - a) b)        neither    = sum((1 - a) (1 - b))
    expected    = sum(a) sum(b) / H     the heads in both if one task knew nothing of the other
    phi         = Pearson's r of a and b

For weights of 0 and 1 these are the counts of the two-by-two table, and r is its phi coefficient [Yule 1912].
For shares the counts are the means of those over all pairs of one seed of each task.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Overlap:
    """Heads in both, in one only, in neither; in both by chance; ``phi`` in [-1, 1].

    ``phi`` is NaN where a task weighs all heads alike; all are NaN where a weight is.
    """

    both: float
    first_only: float
    second_only: float
    neither: float
    expected: float
    phi: float


def overlap(first: Float[np.ndarray, "layer head"], second: Float[np.ndarray, "layer head"]) -> Overlap:
    """The overlap of two tasks' weights of the same heads."""
    a, b = first.reshape(-1).astype(float), second.reshape(-1).astype(float)
    return Overlap(
        both=float(a @ b),
        first_only=float(a @ (1 - b)),
        second_only=float((1 - a) @ b),
        neither=float((1 - a) @ (1 - b)),
        expected=float(a.sum() * b.sum() / len(a)),
        phi=_correlation(a, b),
    )


def _correlation(a: Float[np.ndarray, " head"], b: Float[np.ndarray, " head"]) -> float:
    if not (np.isfinite(a).all() and np.isfinite(b).all()) or np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    return float(np.clip(np.corrcoef(a, b)[0, 1], -1, 1))
