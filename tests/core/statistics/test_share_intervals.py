"""Intervals of Always and Any: what other fits show lies in them, with two fits as well."""

from __future__ import annotations

import numpy as np
import pytest

from headscope.core.statistics.certainty import certainty
from headscope.core.statistics.share_intervals import PARTS, share_intervals


def fits(seed: int, n: int, a: float = 0.44, b: float = 0.7) -> np.ndarray:
    """Two disjoint sets of ``n`` fits of the same 270 heads, whose rates are spread like Beta(a, b)."""
    source = np.random.default_rng(seed)
    rate = source.beta(a, b, (30, 9))
    return source.random((2, n, 30, 9)) < rate


def share(has: np.ndarray, part: str) -> float:
    return float((has.all(axis=0) if part == "always" else has.any(axis=0)).mean())


@pytest.mark.parametrize("part", PARTS)
def test_two_other_fits_mostly_fall_into_the_interval_of_two(part: str) -> None:
    within = 0
    for seed in range(60):
        seen, other = fits(seed, 2)
        ends = share_intervals(seen)[part]  # type: ignore[index]
        assert ends is not None
        assert ends[0] <= share(seen, part) <= ends[1]
        within += ends[0] <= share(other, part) <= ends[1]
    assert within >= 54


def test_two_alike_fits_are_not_certain() -> None:
    """The bootstrap of two equal fits has no width at all."""
    one = fits(0, 1)[0]
    has = np.concatenate([one, one])
    sure = certainty(has)
    assert sure is not None
    assert np.ptp(sure.always.interval or (0, 1)) == pytest.approx(0)
    for ends in share_intervals(has).values():
        assert ends is not None
        assert ends[1] - ends[0] > 0.005


def test_from_three_fits_on_it_is_the_bootstraps_and_one_has_none() -> None:
    seen, _ = fits(1, 3)
    sure = certainty(seen)
    assert sure is not None
    assert share_intervals(seen) == {"always": sure.always.interval, "any": sure.any.interval}
    assert share_intervals(seen[:1]) == {"always": None, "any": None}
    assert share_intervals(seen[:0]) == {"always": None, "any": None}
