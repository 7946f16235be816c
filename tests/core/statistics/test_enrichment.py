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
    np.testing.assert_allclose([found.p[0, 0], found.p[2, 0]], exact)
    assert found.p[0, 1] == pytest.approx(1)


def test_an_empty_set_cannot_be_tested_and_does_not_count_in_the_correction() -> None:
    found = crossed(ROLES, NAMES, 2000, 2)
    assert np.isnan(found.p[1]).all()
    assert np.isnan(found.corrected[1]).all()
    assert found.p[0, 0] < found.corrected[0, 0] < 4 * found.p[0, 0]


def test_within_layers_p_is_the_tail_of_a_sum_over_layers() -> None:
    found = crossed(ROLES, NAMES, 500, 4, within_layers=True)
    first = hypergeom.pmf([0, 1, 2], 6, 2, 2)
    assert found.p[0, 0] == pytest.approx(first[2])
    assert found.expected[0, 0] == pytest.approx(2 * 2 / 6)
    assert found.p[2, 0] == pytest.approx(1 - hypergeom.pmf(0, 6, 2, 2))


def test_cells_that_hold_one_another_or_cannot_be_small_cost_nothing() -> None:
    """Four times the same role, and names of one head beside the one that counts."""
    heads = np.zeros(60, bool)
    heads[:6] = True
    role, name = heads.reshape(1, 6, 10), np.roll(heads, 3).reshape(1, 6, 10)
    single = np.eye(60, dtype=bool)[20:30].reshape(10, 6, 10)
    found = crossed(np.repeat(role, 4, axis=0), np.concatenate([name, single]), 4000, 6)
    assert 44 * found.p[0, 0] > 0.4
    assert found.corrected[0, 0] < 0.03
    assert found.least[0, 1] == pytest.approx(0.1)
    assert found.least[0, 0] < 1e-6


def test_nothing_is_found_where_nothing_is_in_one_of_twenty_draws() -> None:
    draw, found = np.random.default_rng(7), 0
    for seed in range(60):
        roles, names = draw.random((4, 6, 9)) < 0.3, draw.random((5, 6, 9)) < 0.2
        roles[1] |= roles[0]
        found += bool(np.nanmin(crossed(roles, names, 199, seed).corrected) < 0.05)
    assert found <= 8  # 3 expected; more in one of a hundred such trials


def test_within_layers_depth_alone_explains_nothing() -> None:
    """A role and a name that both fill layer 1 meet in every order of its heads."""
    layer = np.zeros((1, 3, 6), bool)
    layer[0, 1] = True
    everywhere, within = (crossed(layer, layer, 500, 3, within_layers=kept) for kept in (False, True))
    assert everywhere.p[0, 0] < 0.01
    assert within.p[0, 0] == pytest.approx(1)
    assert within.expected[0, 0] == pytest.approx(6)


def test_the_same_seed_gives_the_same_numbers() -> None:
    first, again, other = (crossed(ROLES, NAMES, 700, seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first.corrected, again.corrected)
    assert not np.array_equal(first.corrected, other.corrected, equal_nan=True)
