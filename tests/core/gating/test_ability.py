"""The rule: who can do a task, and how many in-context examples are taken."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from headscope.core.gating.ability import Ability, fewest
from headscope.core.statistics.intervals import clopper_pearson, mean_interval


@pytest.mark.parametrize(("right", "n"), [(0, 10), (3, 10), (48, 96), (95, 96), (96, 96)])
def test_the_ends_of_the_exact_interval_leave_a_fortieth_on_each_side(right: int, n: int) -> None:
    low, high = clopper_pearson(right / n, n)
    assert low <= right / n <= high
    if right:
        assert binom.sf(right - 1, n, low) == pytest.approx(0.025)
    if right < n:
        assert binom.cdf(right, n, high) == pytest.approx(0.025)
    assert (low == 0) == (right == 0)
    assert (high == 1) == (right == n)


def test_nothing_seen_has_no_interval() -> None:
    assert np.isnan(clopper_pearson(0.5, 0)).all()
    assert np.isnan(clopper_pearson(float("nan"), 9)).all()
    assert np.isnan(mean_interval(np.array([1.0]))).all()


def test_the_interval_of_a_mean_is_students() -> None:
    low, high = mean_interval(np.array([1.0, 2.0, 3.0]))
    assert (low, high) == pytest.approx((2 - 2.48414, 2 + 2.48414), abs=1e-4)  # 4.3027 / sqrt(3)


@pytest.mark.parametrize(
    ("accuracy", "n", "chance", "can"),
    [
        (0.91, 96, 0.02, True),
        (0.20, 41, 0.05, False),  # surely more than chance, but mostly wrong
        (0.55, 64, 0.5, False),  # a coin gets as many
        (0.75, 64, 0.5, True),
        (0.6, None, None, True),  # an older result: the bound decides alone
        (0.49, None, None, False),
        (float("nan"), 10, 0.1, False),
    ],
)
def test_who_can_do_a_task(accuracy: float, n: int | None, chance: float | None, can: bool) -> None:
    assert Ability(accuracy, n, chance).can_do is can


def test_an_ability_says_what_it_knows() -> None:
    assert Ability(0.5, 2, 0.25).words == "answers 50.0 % right (95 %: 1.3 to 98.7 %; chance 25.0 %)"
    assert Ability(0.5, None, None).words == "answers 50.0 % right (chance isn't known)"


def test_the_fewest_within_five_points_of_the_best_are_taken() -> None:
    assert fewest([0, 1, 2, 5, 10], [0.0, 0.22, 0.80, 0.92, 0.97]) == 5
    assert fewest([0, 1, 2, 5, 10], [0.0, 0.22, 0.80, 0.91, 0.97]) == 10
    assert fewest([0, 1, 5], [0.0, 0.0, 0.0]) == 0
