"""Roles against names: counts by hand, p-values against the exact distributions, layers held."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import hypergeom

from headscope.core.statistics.enrichment import crossed


def _set(*heads: tuple[int, int], shape: tuple[int, int] = (3, 6)) -> np.ndarray:
    grid = np.zeros(shape, bool)
    for head in heads:
        grid[head] = True
    return grid


ROLES = np.stack([_set((0, 0), (0, 1), (2, 5)), _set(), _set((1, 1), (1, 2))])
NAMES = np.stack([_set((0, 0), (0, 1), (1, 3), (1, 1)), _set((2, 2))])


def test_counts_and_expectations_are_those_worked_by_hand() -> None:
    found = crossed(ROLES, NAMES, 4000, 0)
    assert found.count.tolist() == [[2, 0], [0, 0], [1, 0]]
    np.testing.assert_allclose(found.expected, np.outer([3, 0, 2], [4, 1]) / 18, atol=0.03)


def test_p_is_the_hypergeometric_tail() -> None:
    found = crossed(ROLES, NAMES, 20_000, 1)
    exact = [hypergeom.sf(count - 1, 18, 4, n) for count, n in ((2, 3), (1, 2))]
    np.testing.assert_allclose([found.p[0, 0], found.p[2, 0]], exact, atol=0.012)
    assert found.p[0, 1] == 1.0


def test_an_empty_set_cannot_be_tested_and_does_not_count_in_the_correction() -> None:
    found = crossed(ROLES, NAMES, 2000, 2)
    assert np.isnan(found.p[1]).all()
    assert np.isnan(found.holm[1]).all()
    assert found.holm[0, 0] == pytest.approx(4 * found.p[0, 0])


def test_within_layers_depth_alone_explains_nothing() -> None:
    """A role and a name that both fill layer 1 meet in every order of its heads."""
    layer = np.zeros((1, 3, 6), bool)
    layer[0, 1] = True
    everywhere, within = (crossed(layer, layer, 500, 3, within_layers=kept) for kept in (False, True))
    assert everywhere.p[0, 0] < 0.01
    assert within.p[0, 0] == 1.0
    assert within.expected[0, 0] == 6


def test_the_same_seed_gives_the_same_numbers() -> None:
    first, again, other = (crossed(ROLES, NAMES, 700, seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.p, again.p)
    assert not np.array_equal(first.p, other.p, equal_nan=True)
