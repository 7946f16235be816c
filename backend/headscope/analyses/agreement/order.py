"""Do gating and a measure order the heads alike? A rank correlation, its interval, and what would be seen.

rho is Spearman's, over H heads, of mean facilitation and the measure's effect.

1. Interval (95 %): Fisher's z = atanh(rho), variance (1 + rho^2 / 2) / (H - 3) [Bonett, Wright 2000].
2. ``detectable``: the smallest correlation that such an interval leaves 0 out of in four of five runs,
   atanh(r) = 1.96 s(r) + 0.84 s(r), s from 1.
3. Reliability of a measure: effects with fresh errors added to them correlate with themselves by
   c = sqrt(1 / (2 - reliability)), so that reliability = 2 - 1 / c^2. c is taken from ranks, as
   2 sin(pi rho / 6) [Pearson 1907], mean of ``DRAWS`` draws, since few heads have by far the largest effects.
   Errors weaken every correlation by the root of both reliabilities; ``detectable_true`` is the
   smallest correlation of the effects without errors that would be seen: NaN where not even 1 would be, or
   where an error isn't known.

Heads of one model are no independent draws; the interval is of as many that are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from headscope.analyses.agreement.methods import Seen

NUMBERS: Final = ("heads", "rho", "low", "high", "detectable", "reliability", "detectable_true")
"""Columns of ``order``."""

POWERFUL: Final = 0.3
"""A run that would see no correlation of this size says nothing of agreement, either way."""

DRAWS: Final = 20
_TAIL, _POWER = 1.959964, 0.841621  # normal quantiles at .975 and at .8

Outcome = Literal["alike", "not alike", "can't tell"]


@dataclass(frozen=True)
class Order:
    """One measure's row of ``order``; NaN where a number can't be had."""

    heads: float
    rho: float
    low: float
    high: float
    detectable: float
    reliability: float
    detectable_true: float

    @property
    def outcome(self) -> Outcome:
        """Whether heads are ordered alike: not where the interval reaches 0 of a run that would see it."""
        if self.low > 0:
            return "alike"
        return "not alike" if self.detectable <= POWERFUL else "can't tell"


def order(seen: Mapping[str, Seen], seed: int = 0) -> Float[np.ndarray, "method number"]:
    """A row for each method but gating, in their order; columns are ``NUMBERS``."""
    gating, draw = seen["gating"], np.random.default_rng(seed)
    own = reliability(gating, draw)
    rows = [_row(gating, seen[name], own, draw) for name in seen if name != "gating"]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(NUMBERS))


def interval(rho: float, heads: int) -> tuple[float, float]:
    """Rule 1."""
    spread = _TAIL * _spread(rho, heads)
    z = np.arctanh(np.clip(rho, -1 + 1e-12, 1 - 1e-12))
    return float(np.tanh(z - spread)), float(np.tanh(z + spread))


def detectable(heads: int) -> float:
    """Rule 2; NaN with so few heads that no correlation would do."""
    found = 0.0
    for _ in range(50):
        found = float(np.tanh((_TAIL + _POWER) * _spread(found, heads)))
    return found


def reliability(seen: Seen, draw: np.random.Generator) -> float:
    """Rule 3, in [0, 1]; NaN where no error is known or effects don't vary."""
    if seen.error is None:
        return float("nan")
    known = np.isfinite(seen.effect) & np.isfinite(seen.error)
    effect, error = seen.effect[known], seen.error[known]
    if len(effect) < 4 or np.ptp(effect) == 0:
        return float("nan")
    again = [rank_correlation(effect, draw.normal(effect, error)) for _ in range(DRAWS)]
    correlation = 2 * np.sin(np.pi / 6 * np.mean(again))
    return float(np.clip(2 - 1 / max(float(correlation), 1e-6) ** 2, 0, 1))


def rank_correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Spearman's rho; NaN with fewer than four heads or where one doesn't vary."""
    from scipy.stats import spearmanr

    if len(first) < 4 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return float("nan")
    return float(spearmanr(first, second).statistic)


def _row(gating: Seen, method: Seen, own: float, draw: np.random.Generator) -> list[float]:
    known = np.isfinite(gating.effect) & np.isfinite(method.effect)
    heads, rho = int(known.sum()), rank_correlation(gating.effect[known], method.effect[known])
    its = reliability(method, draw)
    if not np.isfinite(rho):
        return [heads, np.nan, np.nan, np.nan, np.nan, its, np.nan]
    seen_from, weakened = detectable(heads), float(np.sqrt(own * its))
    true = seen_from / weakened if weakened > seen_from else np.nan
    return [heads, rho, *interval(rho, heads), seen_from, its, true]


def _spread(rho: float, heads: int) -> float:
    return float(np.sqrt((1 + rho**2 / 2) / max(heads - 3, 1)))
