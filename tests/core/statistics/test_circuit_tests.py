"""Tests of a circuit, by simulation: they reject true nulls as often as they say and find what is planted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from headscope.core.statistics.circuit_tests import (
    ALPHA,
    equivalence,
    independence,
    minimality,
    quantile,
    rank_p,
)

TRIALS = 400
Draw = np.random.Generator


def rejected(p: Callable[[Draw], float], trials: int = TRIALS) -> float:
    """The share of trials in which a null hypothesis is rejected."""
    return float(np.mean([p(np.random.default_rng([7, trial])) <= ALPHA for trial in range(trials)]))


def at_most(share: float, trials: int = TRIALS) -> float:
    """A share that chance exceeds once in a thousand."""
    return share + 3.1 * float(np.sqrt(share * (1 - share) / trials))


# -- equivalence --------------------------------------------------------------------------------------


def pair(draw: Draw, shift: float = 0.0, n: int = 64) -> float:
    model = draw.normal(size=n)
    return equivalence(model + shift + draw.normal(size=n), model).p


def test_a_circuit_that_is_as_good_is_called_different_no_more_often_than_said() -> None:
    share = rejected(pair)
    assert 0.01 < share <= at_most(ALPHA)


def test_a_circuit_that_is_worse_is_found() -> None:
    assert rejected(lambda draw: pair(draw, shift=-0.8), 100) > 0.95


def test_equivalence_is_claimed_falsely_no_more_often_than_said() -> None:
    """At the edge of the margin: 60 % of examples are better."""

    def claimed(draw: Draw) -> float:
        found = equivalence(np.where(draw.uniform(size=200) < 0.6, 1.0, -1.0), np.zeros(200))
        return 0.0 if found.equivalent else 1.0

    assert rejected(claimed) <= at_most(ALPHA)


def test_equivalence_needs_examples_enough() -> None:
    model = np.zeros(400)
    even = np.tile([1.0, -1.0], 200)
    assert equivalence(even, model).equivalent
    few = equivalence(even[:20], model[:20])
    assert not few.equivalent
    assert few.p == 1


def test_ties_are_no_evidence_of_a_difference() -> None:
    model = np.linspace(-3, 0, 300)
    same = equivalence(model + 1e-9, model)
    assert (same.p, same.differing, same.share) == (1, 0, 0.5)
    assert same.equivalent
    by_hand = equivalence(np.array([1.0, 1, 1, -1, 0]), np.zeros(5))
    assert by_hand.p == pytest.approx(2 * 5 / 16)
    assert by_hand.share == pytest.approx(3.5 / 5)
    never = equivalence(-np.ones(10), np.zeros(10))
    assert (never.share, never.low) == (0, 0)
    assert never.high == pytest.approx(1 - 0.05 ** (1 / 10))
    always = equivalence(np.ones(10), np.zeros(10))
    assert always.high == 1
    assert always.low == pytest.approx(0.05 ** (1 / 10))


# -- independence -------------------------------------------------------------------------------------


def test_independent_scores_are_called_dependent_as_often_as_said() -> None:
    def p(draw: Draw) -> float:
        return independence(draw.exponential(size=32), draw.normal(size=32), 199, 0).p

    assert 0.01 < rejected(p, 200) <= at_most(ALPHA, 200)


@pytest.mark.parametrize("shape", [lambda x: x, lambda x: x**2, np.abs])
def test_dependence_of_any_shape_is_found(shape: Callable[[np.ndarray], np.ndarray]) -> None:
    """A square has no correlation."""

    def p(draw: Draw) -> float:
        x = draw.normal(size=48)
        return independence(shape(x) + 0.3 * draw.normal(size=48), x, 99, 0).p

    assert rejected(p, 40) > 0.9


def test_hsic_is_the_trace_of_centred_kernels() -> None:
    x, y = np.array([0.0, 1, 3]), np.array([2.0, 0, 1])

    def kernel(values: np.ndarray, width: float) -> np.ndarray:
        return np.asarray(np.exp(-((values[:, None] - values) ** 2) / (2 * width**2)))

    centre = np.eye(3) - 1 / 3
    by_hand = np.trace(kernel(x, 2.0) @ centre @ kernel(y, 1.0) @ centre) / 9
    assert independence(x, y, 9, 0).hsic == pytest.approx(by_hand)


def test_a_constant_tells_nothing() -> None:
    assert independence(np.zeros(20), np.arange(20.0), 99, 0).p == 1


# -- minimality, sufficiency, necessity ---------------------------------------------------------------


def test_a_head_like_those_outside_is_called_needed_as_often_as_said() -> None:
    def p(draw: Draw) -> float:
        return float(minimality(draw.normal(size=1), draw.normal(size=39))[0])

    assert 0.01 < rejected(p) <= at_most(ALPHA)


def test_all_members_are_called_needed_no_more_often_than_said() -> None:
    """The worst case: one member is like those outside, the others are beyond doubt."""

    def p(draw: Draw) -> float:
        return float(minimality(np.array([9.0, 9, draw.normal()]), draw.normal(size=39)).max())

    assert rejected(p) <= at_most(ALPHA)
    assert rejected(lambda draw: float(minimality(np.full(3, 9.0), draw.normal(size=39)).max()), 20) == 1


def test_a_rank_among_random_ones() -> None:
    drawn = np.array([0.1, 0.2, 0.2, 0.9])
    assert rank_p(0.2, drawn) == pytest.approx(4 / 5)
    assert rank_p(0.2, drawn, "low") == pytest.approx(4 / 5)
    assert rank_p(1.0, drawn) == pytest.approx(1 / 5)
    assert rank_p(0.0, drawn, "low") == pytest.approx(1 / 5)
    assert rank_p(1.0, np.zeros(0)) == 1
    assert quantile(0.2, drawn) == pytest.approx(0.5)
    assert quantile(1.0, drawn) == 1
    assert np.isnan(quantile(1.0, np.zeros(0)))


def test_a_random_circuit_is_called_better_than_random_as_often_as_said() -> None:
    assert 0.01 < rejected(lambda draw: rank_p(draw.normal(), draw.normal(size=99))) <= at_most(ALPHA)
