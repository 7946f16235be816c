"""AUROC against scikit-learn and by hand; intervals hold what they should."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from headscope.core.statistics.ranking import auroc, mean_over_draws


@given(st.lists(st.tuples(st.integers(-3, 3), st.booleans()), min_size=2, max_size=40))
def test_it_is_that_of_scikit_learn_ties_and_all(drawn: list[tuple[int, bool]]) -> None:
    score, positive = np.array([s for s, _ in drawn], float), np.array([p for _, p in drawn])
    assume(0 < positive.sum() < len(positive))
    assert auroc(score, positive) == pytest.approx(roc_auc_score(positive, score))
    assert auroc(-score, positive) == pytest.approx(1 - auroc(score, positive))


def test_it_is_the_share_of_pairs_in_order_by_hand() -> None:
    score = np.array([[0.9, 0.5], [0.5, 0.1]])
    positive = np.array([[True, True], [False, False]])
    assert auroc(score, positive) == (1 + 1 + 0.5 + 1) / 4
    assert auroc(np.zeros(4), np.array([True, False, False, False])) == 0.5


def test_it_is_undefined_without_both_kinds_or_with_a_missing_score() -> None:
    assert math.isnan(auroc(np.ones(3), np.ones(3, bool)))
    assert math.isnan(auroc(np.ones(3), np.zeros(3, bool)))
    assert math.isnan(auroc(np.array([1.0, np.nan]), np.array([True, False])))


def test_an_interval_holds_its_mean_and_narrows_with_draws() -> None:
    source = np.random.default_rng(0)
    few, many = (mean_over_draws(source.uniform(0.5, 1, n)) for n in (10, 1000))
    for one in (few, many):
        assert one.low < one.mean < one.high
    assert many.high - many.low < (few.high - few.low) / 3
    assert mean_over_draws([0.2, math.nan, 0.4]).mean == pytest.approx(0.3)
    assert mean_over_draws([]).n == 0


def test_draws_that_are_all_perfect_leave_room_for_what_was_not_drawn() -> None:
    one = mean_over_draws(np.ones(20))
    assert (one.mean, one.high) == (1, 1)
    # A share p of imperfect draws is missed in 20 with (1 - p)^20 = 0.025.
    assert one.low**20 == pytest.approx(0.025)
    assert mean_over_draws(np.zeros(20)).high == pytest.approx(1 - one.low)
