"""How much of what a model does a few of its heads do by themselves [MIB, Mueller et al. 2025, 2504.13151].

    f(C) = (m(C) - m(none)) / (m(all) - m(none))

m is the metric with the heads of C as they are and all others replaced. A ranking of heads gives a curve of f
over the share of heads that are kept, highest first:

    CPR = area under f            how well the best heads do: more is better
    CMD = area between f and 1    how far the curve is from the model: less is better

both by the trapezoid over the shares that were tried, from the smallest to 1. **The units here are heads**;
the source's are edges, so its numbers aren't comparable. numpy only.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np
from jaxtyping import Float

SIZES: Final = tuple(Fraction(size, 1000) for size in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000))
"""Shares of all heads that are kept."""

Shares = Float[np.ndarray, "*ranking size"]


def head_counts(heads: int) -> list[int]:
    """How many of ``heads`` are kept at each size, rounded down; sizes of less than one head are left out."""
    return sorted({count for size in SIZES if (count := int(size * heads)) >= 1})


def faithfulness(score: Float[np.ndarray, "*set"], none: float, whole: float) -> Float[np.ndarray, "*set"]:
    """0 where nothing of the gain is kept, 1 where all is; NaN where the model gains nothing."""
    gain = whole - none
    return np.asarray((score - none) / (gain if gain > 0 else np.nan))


def cpr(share: Float[np.ndarray, " size"], f: Shares) -> Float[np.ndarray, "*ranking"]:
    """Circuit performance ratio: the area under f; 1 less the smallest share where f is 1 throughout."""
    return np.asarray(np.trapezoid(f, share, axis=-1))


def cmd(share: Float[np.ndarray, " size"], f: Shares) -> Float[np.ndarray, "*ranking"]:
    """Circuit-model distance: the area between f and 1, on whichever side; 0 where f is 1 throughout."""
    return np.asarray(np.trapezoid(np.abs(1 - f), share, axis=-1))
