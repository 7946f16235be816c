"""False discoveries: scipy's beta-binomial, Benjamini-Hochberg by hand, and the rate on simulated heads."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import betabinom

from headscope.core.statistics.discovery import RATE, null_p
from headscope.core.statistics.replication import fitted_prior
from headscope.core.statistics.significance import benjamini_hochberg


def test_benjamini_hochberg_by_hand() -> None:
    p = np.array([[0.01, 0.04], [0.03, 0.9]])
    np.testing.assert_allclose(benjamini_hochberg(p), [[0.04, 0.16 / 3], [0.16 / 3, 0.9]])
    np.testing.assert_array_equal(benjamini_hochberg(np.array([0.5, 1.0])), [1, 1])


def test_p_is_the_tail_of_the_heads_own_null() -> None:
    null, count = np.array([0, 1, 5, 2, 0, 0]), np.array([5, 5, 5, 0, 1, 3])
    prior = fitted_prior(null, 5)
    found = null_p(count, 5, null, 5)
    for head, (k, c) in enumerate(zip(count, null, strict=True)):
        tail = betabinom(5, prior.a + c, prior.b + 5 - c).pmf(np.arange(k, 6)).sum()
        assert found[head] == pytest.approx(tail)
    assert found[3] == 1
    assert found[0] < found[1] < found[2]


def test_heads_without_any_effect_are_rarely_found() -> None:
    """In 40 runs where no role depends on the targets, some head is found in about one of twenty."""
    source, found = np.random.default_rng(0), []
    for _ in range(40):
        rate = source.beta(0.4, 1.6, 270)
        null, count = source.binomial(6, rate), source.binomial(10, rate)
        found.append(bool((benjamini_hochberg(null_p(count, 10, null, 6)) <= RATE).any()))
    assert np.mean(found) <= 0.125


@pytest.mark.parametrize("null_fits", [5, 10])
def test_the_rate_is_kept_and_real_heads_are_found(null_fits: int) -> None:
    """A third of the heads is needed for the targets' sake: of those found, about one in twenty isn't."""
    source, false, power = np.random.default_rng(1), [], []
    for _ in range(25):
        null_rate = source.beta(0.4, 3, 270)
        real = source.random(270) < 1 / 3
        rate = np.where(real, source.beta(12, 1, 270), null_rate)
        null, count = source.binomial(null_fits, null_rate), source.binomial(10, rate)
        found = benjamini_hochberg(null_p(count, 10, null, null_fits)) <= RATE
        false.append((found & ~real).sum() / max(found.sum(), 1))
        power.append(found[real].mean())
    assert np.mean(false) <= RATE
    assert np.mean(power) > 0.5
