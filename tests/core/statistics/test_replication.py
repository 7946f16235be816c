"""Replication: hand-computed posteriors, scipy's beta-binomial, and calibration on heads of known rates."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brute
from scipy.stats import beta, betabinom

from headscope.core.statistics.replication import (
    LEANS,
    MOST,
    REPLICATES,
    UNDECIDED,
    Prior,
    fits_to_replicate,
    fitted_prior,
    replication,
    split_half,
)

SMOLLM2 = Prior(0.44, 0.70)
"""Measured of needed heads on present-past, five demonstrations."""


def test_a_posterior_by_hand() -> None:
    """Beta(1, 1) and 9 of 10: Beta(10, 2), mean 10/12; P(p >= x) = 1 - 11 x^10 + 10 x^11."""
    found = replication(np.array([9]), 10, Prior(1.0, 1.0))
    assert found.share[0] == 0.9
    assert found.rate[0] == pytest.approx(10 / 12)
    for end, below in ((found.low[0], 0.05), (found.high[0], 0.95)):
        assert 11 * end**10 - 10 * end**11 == pytest.approx(below)
    assert found.verdict[0] == LEANS


def test_verdicts_and_rates_are_those_measured_on_a_real_run() -> None:
    five = replication(np.arange(6), 5, SMOLLM2)
    np.testing.assert_allclose(five.rate, [0.07, 0.23, 0.40, 0.56, 0.72, 0.89], atol=0.006)
    assert five.verdict.tolist() == [UNDECIDED] * 5 + [LEANS]
    ten = replication(np.array([9, 10]), 10, SMOLLM2)
    assert ten.verdict.tolist() == [LEANS, REPLICATES]
    assert (ten.more[1], ten.more_at_best[1]) == (0, 0)


def test_probabilities_are_those_of_the_beta_distribution() -> None:
    prior, fits = Prior(0.6, 1.3), 12
    found = replication(np.arange(fits + 1), fits, prior)
    posterior = beta(prior.a + found.count, prior.b + fits - found.count)
    np.testing.assert_allclose(posterior.cdf(found.low), 0.05, rtol=1e-9)
    np.testing.assert_allclose(posterior.cdf(found.high), 0.95, rtol=1e-9)
    expected = np.where(posterior.sf(0.5) >= 0.95, LEANS, UNDECIDED)
    np.testing.assert_array_equal(found.verdict, np.where(posterior.sf(0.8) >= 0.9, REPLICATES, expected))
    np.testing.assert_allclose(
        found.rate, [betabinom(1, prior.a + k, prior.b + fits - k).pmf(1) for k in found.count]
    )


@settings(deadline=None, max_examples=30)
@given(fits=st.integers(1, 20), data=st.data())
def test_so_many_fits_more_give_the_verdict_and_one_fewer_does_not(fits: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, fits))
    found = replication(np.array([count]), fits, SMOLLM2)
    more, at_best = int(found.more[0]), int(found.more_at_best[0])

    def gives(n: int, k: float) -> bool:
        return bool(beta.sf(0.8, SMOLLM2.a + k, SMOLLM2.b + n - k) >= 0.9)

    for ahead, slope in ((more, count / fits), (at_best, 1)):
        steps = range(ahead) if ahead >= 0 else range(MOST - fits + 1)
        assert not any(gives(fits + step, count + slope * step) for step in steps)
        assert ahead < 0 or gives(fits + ahead, count + slope * ahead)


def test_fits_that_all_agree_until_the_verdict() -> None:
    least = fits_to_replicate(SMOLLM2)
    assert least is not None
    assert 5 < least <= 10
    assert replication(np.array([5]), 5, SMOLLM2).more_at_best[0] == least - 5
    assert fits_to_replicate(Prior(1.0, 5e3)) is None


@pytest.mark.parametrize("truth", [(0.44, 0.7), (1.1, 2.9), (6.0, 2.0)])
def test_the_prior_is_where_scipys_likelihood_is_greatest(truth: tuple[float, float]) -> None:
    source = np.random.default_rng(1)
    count = source.binomial(8, source.beta(*truth, (30, 9)))
    found = fitted_prior(count, 8)

    def loss(x: np.ndarray) -> float:
        penalty = ((x - np.log(0.5)) ** 2).sum() / 2
        return float(penalty - betabinom(8, *np.exp(x)).logpmf(count).sum())

    nearest = np.log([found.a, found.b])
    around = tuple((at - 0.2, at + 0.2) for at in nearest)
    best = brute(loss, around, Ns=41, finish=None)
    np.testing.assert_allclose(nearest, best, atol=0.011)
    assert loss(nearest) <= loss(best) + 1e-9
    np.testing.assert_allclose([found.a, found.b], truth, rtol=0.35)


def test_where_heads_say_little_the_prior_stays_near_jeffreys() -> None:
    assert fitted_prior(np.array([0, 1, 1]), 1) == Prior(0.5, 0.5)
    assert fitted_prior(np.array([0, 0]), 0) == Prior(0.5, 0.5)
    for count in (np.array([5]), np.array([0]), np.array([5, 5]), np.array([0, 5])):
        prior = fitted_prior(count, 5)
        assert 0.2 < prior.a < 1.6
        assert 0.2 < prior.b < 1.6
    for count in (np.zeros((30, 9), int), np.full((30, 9), 5)):
        prior = fitted_prior(count, 5)
        rate = replication(count, 5, prior).rate
        np.testing.assert_allclose(rate, count / 5, atol=0.01)
        assert np.isfinite(rate).all()


@pytest.mark.parametrize("fits", [0, 1])
def test_without_fits_and_with_one_nothing_is_known(fits: int) -> None:
    found = replication(np.full((2, 3), fits), fits)
    assert (found.verdict == UNDECIDED).all()
    assert np.isnan(found.share).all() == (fits == 0)
    assert (found.high - found.low > 0.6).all()


@pytest.mark.parametrize("truth", [(0.44, 0.7), (1.1, 2.9), (0.2, 0.3), (4.0, 2.0)])
@pytest.mark.parametrize("fits", [5, 10])
def test_the_posterior_is_calibrated(truth: tuple[float, float], fits: int) -> None:
    """Over 30 runs of 270 heads: predicted and true rate by count, coverage, and what the verdict says."""
    source = np.random.default_rng(2)
    seen, predicted, weight = np.zeros(fits + 1), np.zeros(fits + 1), np.zeros(fits + 1)
    inside, kept, called = [], [], []
    for _ in range(30):
        rate = source.beta(*truth, 270)
        count = source.binomial(fits, rate)
        found = replication(count, fits)
        np.add.at(seen, count, rate)
        np.add.at(predicted, count, found.rate)
        np.add.at(weight, count, 1)
        inside.append((found.low <= rate) & (rate <= found.high))
        kept.extend((rate >= 0.8)[found.replicates])
        called.append(found.replicates.sum())
    common = weight >= 100
    np.testing.assert_allclose(
        (seen / weight.clip(1))[common], (predicted / weight.clip(1))[common], atol=0.04
    )
    assert np.mean(inside) == pytest.approx(0.9, abs=0.02)
    if np.sum(called) >= 100:
        assert np.mean(kept) >= 0.88


def test_the_verdict_holds_in_a_small_model_too() -> None:
    """16 heads tell the prior badly; still, of those called so, nine of ten are."""
    source, kept = np.random.default_rng(3), []
    for _ in range(400):
        rate = source.beta(0.44, 0.7, 16)
        found = replication(source.binomial(10, rate), 10)
        kept.extend((rate >= 0.8)[found.replicates])
    assert len(kept) > 400
    assert np.mean(kept) >= 0.9


def test_split_half_is_the_mean_over_halves_stepped_up() -> None:
    has = np.random.default_rng(4).random((4, 2, 8)) < np.linspace(0.05, 0.95, 16).reshape(2, 8)
    flat = has.reshape(4, -1).astype(float)
    pairs = [(list(half), [fit for fit in range(4) if fit not in half]) for half in combinations(range(4), 2)]
    r = np.mean([np.corrcoef(flat[a].mean(0), flat[b].mean(0))[0, 1] for a, b in pairs])
    assert split_half(has) == pytest.approx(2 * r / (1 + r), abs=0.02)


def test_split_half_tells_the_correlation_with_another_set_of_as_many_fits() -> None:
    source, told, seen = np.random.default_rng(5), [], []
    for _ in range(25):
        rate = source.beta(0.44, 0.7, 270)
        first, second = (source.random((9, 270)) < rate for _ in range(2))
        told.append(split_half(first))
        seen.append(np.corrcoef(first.mean(0), second.mean(0))[0, 1])
    assert np.mean(np.array(told, float)) == pytest.approx(np.mean(seen), abs=0.02)


def test_split_half_needs_four_fits_and_heads_that_differ() -> None:
    differing = np.arange(12).reshape(1, 12) < 6
    assert split_half(np.repeat(differing, 3, axis=0)) is None
    assert split_half(np.repeat(differing, 4, axis=0)) == pytest.approx(1)
    assert split_half(np.ones((6, 12), bool)) is None
    opposite = np.concatenate([np.repeat(differing, 2, axis=0), np.repeat(~differing, 2, axis=0)])
    found = split_half(opposite)
    assert found is not None
    assert -1 <= found < 0
