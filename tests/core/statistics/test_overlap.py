"""Overlap of two tasks' heads: tables worked by hand, and identities."""

from __future__ import annotations

import numpy as np
import pytest

from headscope.core.statistics.overlap import overlap

DRAW = np.random.default_rng(5)


def test_a_two_by_two_table_worked_by_hand() -> None:
    # 10 heads: 3 in both, 1 in the first only, 2 in the second only, 4 in neither.
    first = np.array([[1, 1, 1, 1, 0, 0, 0, 0, 0, 0]], float)
    second = np.array([[1, 1, 1, 0, 1, 1, 0, 0, 0, 0]], float)
    found = overlap(first, second)
    assert (found.both, found.first_only, found.second_only, found.neither) == (3, 1, 2, 4)
    assert found.expected == pytest.approx(4 * 5 / 10)
    # phi = (ad - bc) / sqrt of the product of the margins
    assert found.phi == pytest.approx((3 * 4 - 1 * 2) / np.sqrt(4 * 6 * 5 * 5))


def test_the_same_heads_and_the_opposite_heads() -> None:
    heads = np.array([[1, 0], [0, 0], [1, 1]], float)
    assert overlap(heads, heads).phi == pytest.approx(1)
    assert overlap(heads, 1 - heads).phi == pytest.approx(-1)


def test_shares_of_seeds_are_means_over_pairs_of_seeds() -> None:
    a, b = DRAW.random((3, 2, 5)) < 0.4, DRAW.random((4, 2, 5)) < 0.6
    found = overlap(a.mean(axis=0), b.mean(axis=0))
    pairs = [overlap(one.astype(float), other.astype(float)) for one in a for other in b]
    for name in ("both", "first_only", "second_only", "neither", "expected"):
        assert getattr(found, name) == pytest.approx(np.mean([getattr(pair, name) for pair in pairs])), name


def test_chance_is_what_shuffled_heads_give() -> None:
    a, b = (DRAW.random((4, 25)) < 0.3).astype(float), (DRAW.random((4, 25)) < 0.5).astype(float)
    shuffled = [overlap(DRAW.permutation(a.reshape(-1)).reshape(a.shape), b) for _ in range(400)]
    assert overlap(a, b).expected == pytest.approx(np.mean([one.both for one in shuffled]), rel=0.03)
    assert np.mean([one.phi for one in shuffled]) == pytest.approx(0, abs=0.02)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.5])
def test_without_a_difference_between_heads_there_is_no_phi(value: float) -> None:
    found = overlap(np.full((1, 3), value), np.array([[1.0, 0, 0]]))
    assert np.isnan(found.phi)
    assert found.both == value


def test_nan_stays_nan() -> None:
    found = overlap(np.full((1, 2), np.nan), np.array([[1.0, 0]]))
    assert np.isnan([found.both, found.expected, found.phi]).all()
