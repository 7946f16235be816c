"""How sure Always and Any are: all subsets by hand, coverage against known truth, suggestions that hold."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.core.statistics.certainty import (
    DRAWS,
    MOST,
    SETTLED,
    certainty,
    extrapolated_always,
    extrapolated_any,
    suggestion,
)


def drawn(shares: np.ndarray, n: int, source: np.random.Generator) -> np.ndarray:
    """n seeds in which each head has the role as often as its share says: [seed, 1, head]."""
    return (source.random((n, len(shares))) < shares)[:, None, :]


@settings(deadline=None, max_examples=25)
@given(n=st.integers(1, 6), heads=st.integers(1, 8), seed=st.integers(0, 10**6))
def test_fewer_seeds_are_the_mean_over_all_sets_of_so_many(n: int, heads: int, seed: int) -> None:
    has = np.random.default_rng(seed).random((n, 1, heads)) < 0.5
    sure = certainty(has)
    assert sure is not None
    for m in range(1, n + 1):
        sets = [has[list(chosen)] for chosen in combinations(range(n), m)]
        assert sure.always.mean[m - 1] == pytest.approx(np.mean([one.all(axis=0).mean() for one in sets]))
        assert sure.any.mean[m - 1] == pytest.approx(np.mean([one.any(axis=0).mean() for one in sets]))


def test_ends_are_one_seed_and_what_the_headline_says() -> None:
    has = drawn(np.linspace(0, 1, 40), 7, np.random.default_rng(0))
    sure = certainty(has)
    assert sure is not None
    assert sure.always.mean[0] == sure.any.mean[0] == pytest.approx(has.mean())
    assert sure.always.mean[-1] == pytest.approx(has.all(axis=0).mean())
    assert sure.any.mean[-1] == pytest.approx(has.any(axis=0).mean())
    for share in (sure.always, sure.any):
        assert (share.low <= share.mean).all()
        assert (share.mean <= share.high).all()


def test_intervals_hold_the_truth_where_the_plain_bootstrap_misses_it() -> None:
    source = np.random.default_rng(1)
    shares = source.beta(0.3, 0.6, 200)
    truth = float((1 - (1 - shares) ** 8).mean())
    held = plain = 0
    for _ in range(60):
        has = drawn(shares, 8, source)
        sure = certainty(has)
        assert sure is not None
        assert sure.any.interval is not None
        low, high = sure.any.interval
        held += low <= truth <= high
        repeated = [has[source.integers(8, size=8)].any(axis=0).mean() for _ in range(200)]
        low, high = np.quantile(repeated, (0.025, 0.975))
        plain += low <= truth <= high
    assert held >= 53
    assert plain <= 30


def test_one_seed_has_no_band_and_none_has_nothing() -> None:
    has = np.array([[[True, False, True]]])
    sure = certainty(has)
    assert sure is not None
    assert sure.any.interval is None
    assert np.isnan([sure.any.low[0], sure.always.high[0]]).all()
    assert sure.any.mean[0] == pytest.approx(2 / 3)
    assert certainty(has[:0]) is None
    assert suggestion({"needed": has}) is None
    assert np.isnan(extrapolated_any(has, [2])).all()


def test_the_same_seeds_give_the_same_band() -> None:
    has = drawn(np.full(30, 0.4), 5, np.random.default_rng(3))
    first, second = certainty(has), certainty(has)
    assert first is not None
    assert second is not None
    np.testing.assert_array_equal(first.any.low, second.any.low)
    assert DRAWS >= 1000


def test_the_extrapolation_by_hand() -> None:
    # Three heads: seen once, twice, never. q1 = q2 = 1, q0 = min(2/3 * 1/2, 1) = 1/3, a = 1 - 1/(1 + 3/3).
    has = np.zeros((3, 1, 3), bool)
    has[0, 0, 0] = has[0, 0, 1] = has[1, 0, 1] = True
    np.testing.assert_allclose(
        extrapolated_any(has, [3, 4, 5]), [2 / 3, 2 / 3 + 1 / 9 * 0.5, 2 / 3 + 1 / 9 * 0.75]
    )
    np.testing.assert_allclose(extrapolated_always(~has, [3, 4]), [1 / 3, 1 / 3 - 1 / 9 * 0.5])


def test_the_extrapolation_meets_what_further_seeds_show() -> None:
    source = np.random.default_rng(2)
    shares = source.beta(0.5, 0.8, 4000)
    has = drawn(shares, 10, source)
    truth = [float((1 - (1 - shares) ** n).mean()) for n in (10, 15, 20)]
    np.testing.assert_allclose(extrapolated_any(has, [10, 15, 20]), truth, atol=0.015)
    truth = [float((shares**n).mean()) for n in (10, 15, 20)]
    np.testing.assert_allclose(extrapolated_always(has, [10, 15, 20]), truth, atol=0.015)


def test_a_suggestion_ends_where_a_seed_more_moves_little() -> None:
    source = np.random.default_rng(4)
    shares = source.beta(0.6, 0.6, 4000)
    found = suggestion({"needed": drawn(shares, 6, source)})
    assert found is not None
    assert found.settled
    moves = np.abs(np.diff([(shares**n).mean() for n in range(1, 60)]))  # of Always; Any mirrors it
    honest = int(np.flatnonzero(moves < SETTLED)[0]) + 1
    assert 6 < 6 + found.more <= honest
    assert moves[5 + found.more] < 2 * SETTLED
    assert found.step == pytest.approx(moves[5], rel=0.25)


def test_enough_is_an_answer_and_so_is_more_than_a_run_may_have() -> None:
    agreed = np.zeros((5, 2, 10), bool)
    agreed[:, :, :3] = True
    found = suggestion({"needed": agreed, "harmful": ~agreed})
    assert found is not None
    assert (found.more, found.step, found.settled) == (0, 0.0, True)
    # Each seed finds heads of its own, and there is no end in sight.
    apart = np.kron(np.eye(5), np.ones(40)).astype(bool)[:, None, :]
    endless = np.concatenate([apart, np.zeros((5, 1, 2000), bool)], axis=2)
    found = suggestion({"needed": endless})
    assert found is not None
    assert not found.settled
    assert found.more == MOST - 5
    assert found.share == "any needed"


def test_a_single_head_seen_once_is_not_enough() -> None:
    """One of 16 heads in one of 6 seeds: the next seed is as likely to show another, 1/6 head, 1 % of all."""
    has = np.zeros((6, 2, 8), bool)
    has[0, 0, 3] = True
    found = suggestion({"needed": has})
    assert found is not None
    assert found.more > 0
    assert found.step == pytest.approx(1 / 6 / 16, rel=0.25)
