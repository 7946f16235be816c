"""p-values against a direct enumeration, and the 3-SD rule by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from headscope.core.statistics.significance import (
    holm,
    limit,
    outstanding,
    sign_flips,
)

SCORES = np.random.default_rng(0).normal(0.3, 1, (7, 5))


def enumerated(scores: np.ndarray) -> tuple[list[float], list[float]]:
    """p by head and corrected p, by loops over all sign patterns."""
    n, heads = scores.shape
    seen = [sum(scores[:, h]) / n for h in range(heads)]
    single, corrected = [0] * heads, [0] * heads
    for signs in product((1, -1), repeat=n):
        means = [sum(s * scores[i, h] for i, s in enumerate(signs)) / n for h in range(heads)]
        for h in range(heads):
            single[h] += means[h] >= seen[h] - 1e-12
            corrected[h] += max(means) >= seen[h] - 1e-12
    return [count / 2**n for count in single], [count / 2**n for count in corrected]


def test_few_pairs_are_enumerated() -> None:
    found = sign_flips(SCORES, 5000, seed=0)
    single, corrected = enumerated(SCORES)
    assert found.exact
    np.testing.assert_allclose(found.single, single)
    np.testing.assert_allclose(found.max, corrected)
    assert found.least == 1 / 2**7
    assert sign_flips(SCORES, 5000, seed=9).single.tolist() == found.single.tolist()


def test_draws_come_close_to_the_enumeration_and_belong_to_the_seed() -> None:
    exact = sign_flips(SCORES, 128, seed=0)
    drawn = sign_flips(SCORES, 127, seed=0)
    assert exact.exact
    assert not drawn.exact
    many = sign_flips(np.concatenate([SCORES, SCORES]), 5000, seed=1)
    again = sign_flips(np.concatenate([SCORES, SCORES]), 5000, seed=1)
    whole = sign_flips(np.concatenate([SCORES, SCORES]), 2**14, seed=0)
    assert whole.exact
    assert not many.exact
    np.testing.assert_allclose(many.single, whole.single, atol=0.03)
    np.testing.assert_allclose(many.max, whole.max, atol=0.03)
    assert many.max.tolist() == again.max.tolist()
    assert many.single.min() >= many.least == 1 / 5001


def test_corrected_is_never_surer_and_one_head_needs_no_correction() -> None:
    found = sign_flips(SCORES, 5000, seed=0)
    assert (found.max >= found.single).all()
    assert (found.holm >= found.single).all()
    alone = sign_flips(SCORES[:, :1], 5000, seed=0)
    assert alone.single == alone.max == alone.holm


def test_a_planted_score_stands_out_and_an_even_one_does_not() -> None:
    scores = np.random.default_rng(1).normal(0, 1, (20, 200))
    scores[:, 17] += 3
    found = sign_flips(scores, 5000, seed=0)
    assert np.flatnonzero(found.max < 0.05).tolist() == [17]
    assert (found.single < 0.05).sum() > 3  # uncorrected, noise passes too
    negative = sign_flips(-scores, 5000, seed=0)
    assert negative.single[17] > 0.99


def test_holm_by_hand() -> None:
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.9, 0.8])).tolist() == [1, 1]


def test_three_standard_deviations() -> None:
    effects = np.zeros((2, 100))
    effects[0, 3] = 1
    effects[1] = np.linspace(-1, 1, 100)
    mean, sd = 0.01, np.sqrt(0.01 - 0.0001)
    assert limit(effects, 3)[0] == pytest.approx(mean + 3 * sd)
    assert np.flatnonzero(outstanding(effects, 3)[0]).tolist() == [3]
    assert not outstanding(effects, 3)[1].any()
    assert not outstanding(np.full((1, 8), 0.5), 3).any()
