"""What a method says of a head beyond its own error: it surely finds it, surely doesn't, or can't tell.

1. A measure with a standard error surely finds a head whose effect lies ``ERRORS`` standard errors above what
   it asks for, and surely misses one whose effect lies as far below.
2. A measure with a test of its own surely finds what that test finds; it misses as in 1.
3. Gating's error is over fits. Its test is the exact binomial one, since facilitation is mostly near 0 or 1
   and has no spread that a standard error could tell: it surely finds a head that more fits need than would
   (at ``LEVEL``) if one in ten did, and surely misses one that fewer need than would if every second did.
   Four fits or fewer miss nothing surely.
4. A measure without errors can't tell.

Each verdict is wrong at most in ``LEVEL`` of heads by gating and in 0.00135 by another measure, so that a
head on which up to ten methods truly agree is called disputed in at most one case of twenty.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from jaxtyping import Bool, Float, Int8, Integer

Verdict = Int8[np.ndarray, "layer head"]
"""1: surely finds it; -1: surely doesn't; 0: can't tell."""

ERRORS: Final = 3.0
"""Standard errors beyond which an effect surely lies above, or below."""

LEVEL: Final = 0.035
"""Of gating's binomial tests, one-sided: five fits of five (1 in 32) pass it."""

SELDOM: Final = 0.1
OFTEN: Final = 0.5
"""Share of fits needing a head beyond which gating finds it, and short of which it doesn't."""


def by_error(
    effect: Float[np.ndarray, "layer head"], error: Float[np.ndarray, "layer head"], least: float
) -> Verdict:
    """Rule 1; 0 where effect or error isn't known."""
    with np.errstate(invalid="ignore"):
        return _verdict(effect - ERRORS * error >= least, effect + ERRORS * error < least)


def by_own_test(
    found: Bool[np.ndarray, "layer head"],
    effect: Float[np.ndarray, "layer head"],
    error: Float[np.ndarray, "layer head"],
    least: float,
) -> Verdict:
    """Rule 2."""
    with np.errstate(invalid="ignore"):
        return _verdict(found, ~found & (effect + ERRORS * error < least))


def by_fits(needing: Integer[np.ndarray, "layer head"], fits: int) -> Verdict:
    """Rule 3, from the number of fits that need each head."""
    from scipy.stats import binom

    return _verdict(binom.sf(needing - 1, fits, SELDOM) <= LEVEL, binom.cdf(needing, fits, OFTEN) <= LEVEL)


def unknown(shape: tuple[int, ...]) -> Verdict:
    """Rule 4."""
    return np.zeros(shape, np.int8)


def _verdict(sure: Bool[np.ndarray, "layer head"], missed: Bool[np.ndarray, "layer head"]) -> Verdict:
    return np.where(sure, 1, np.where(missed, -1, 0)).astype(np.int8)
