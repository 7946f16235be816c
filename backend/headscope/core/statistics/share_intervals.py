"""Where the shares of heads that have a role in every fit, and in some, would lie with other fits.

1. From three fits on, the bootstrap over fits (``core.statistics.certainty``).
2. Two fits are next to nothing to draw from. Their interval is the wider of the bootstrap's and what the
   heads foresee: each head's rate is drawn from its posterior (``core.statistics.replication``), and two new
   fits from the rates.
3. One fit has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import numpy as np
from jaxtyping import Bool

from headscope.core.statistics.certainty import certainty
from headscope.core.statistics.intervals import Interval
from headscope.core.statistics.replication import fitted_prior

Part = Literal["always", "any"]

PARTS: Final[tuple[Part, ...]] = ("always", "any")

DRAWS: Final = 2000
_TAILS = (0.025, 0.975)


def share_intervals(
    has: Bool[np.ndarray, "seed layer head"], seed: int = 0
) -> Mapping[Part, Interval | None]:
    """By part: both ends of the 95 % interval, in [0, 1]; None with fewer than two fits. Fits that failed
    must be left out beforehand.
    """
    sure = certainty(has, seed)
    found: dict[Part, Interval | None] = {
        part: None if sure is None else getattr(sure, part).interval for part in PARTS
    }
    return (
        found if len(has) != 2 else {part: _wider(found[part], _foreseen(has, part, seed)) for part in PARTS}
    )


def _foreseen(has: Bool[np.ndarray, "seed layer head"], part: Part, seed: int) -> Interval:
    """The share of as many new fits, and what was seen within."""
    fits, count = len(has), has.sum(axis=0).reshape(-1)
    prior, source = fitted_prior(count, fits), np.random.default_rng(seed)
    rate = source.beta(prior.a + count, prior.b + fits - count, (DRAWS, len(count)))
    again = source.binomial(fits, rate)
    shares = (again == fits if part == "always" else again > 0).mean(axis=1)
    seen = float((count == fits if part == "always" else count > 0).mean())
    low, high = np.quantile(shares, _TAILS)
    return min(float(low), seen), max(float(high), seen)


def _wider(first: Interval | None, second: Interval) -> Interval:
    return second if first is None else (min(first[0], second[0]), max(first[1], second[1]))
