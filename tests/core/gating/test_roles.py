from __future__ import annotations

import numpy as np
import pytest

from headscope.core.gating.roles import (
    BOTH,
    HARMFUL,
    IRRELEVANT,
    NEEDED,
    UNDECIDED,
    ecdf,
    headline,
    quantile_correlation,
    roles,
    scores,
    shares,
)
from headscope.errors import Invalid

# Two seeds, one layer, five heads: needed, harmful, irrelevant, both, undecided (in the first seed).
PLUS = np.array([[[1.0, 0.1, 0.9, 0.3, 0.6]], [[1.0, 0.2, 0.9, 0.9, 0.9]]])
MINUS = np.array([[[0.9, 0.0, 0.1, 0.8, 0.3]], [[0.4, 0.1, 0.1, 0.9, 0.2]]])


def test_scores_worked_by_hand() -> None:
    found = scores(PLUS, MINUS)
    np.testing.assert_allclose(found["facilitation"][0, 0], [0.9, 0.0, 0.1, 0.8, 0.3])
    np.testing.assert_allclose(found["interference"][0, 0], [0.0, 0.9, 0.1, 0.7, 0.4])
    np.testing.assert_allclose(found["irrelevance"][0, 0], [0.1, 0.1, 0.81, 0.06, 0.42])


def test_roles_worked_by_hand() -> None:
    found = roles(PLUS, MINUS, 0.5)
    assert found.dtype == np.uint8
    assert found[0, 0].tolist() == [NEEDED, HARMFUL, IRRELEVANT, BOTH, UNDECIDED]
    assert found[1, 0].tolist() == [IRRELEVANT, HARMFUL, IRRELEVANT, NEEDED, IRRELEVANT]


def test_a_score_at_the_threshold_counts_and_irrelevance_gives_way() -> None:
    assert roles(np.array([[[1.0]]]), np.array([[[0.5]]]), 0.5).item() == NEEDED
    assert roles(np.array([[[0.5]]]), np.array([[[0.0]]]), 0.5).item() == HARMFUL


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.01, float("nan")])
def test_a_threshold_that_tells_nothing_apart_is_refused(threshold: float) -> None:
    with pytest.raises(Invalid):
        roles(PLUS, MINUS, threshold)


def test_shares_worked_by_hand() -> None:
    found = shares(PLUS, MINUS, 0.5)
    needed = found["facilitation"]
    assert [needed.always, needed.any, needed.mean] == pytest.approx([0.2, 0.4, 0.3])
    assert needed.per_head.tolist() == [[0.5, 0, 0, 1, 0]]
    assert needed.per_seed.tolist() == [0.4, 0.2]
    assert (found["interference"].always, found["interference"].any) == (0.2, 0.4)


def test_a_failed_seed_counts_in_no_share() -> None:
    failed = np.full((1, 1, 5), np.nan)
    found = shares(np.concatenate([PLUS, failed]), np.concatenate([MINUS, failed]), 0.5)
    assert found["facilitation"].always == 0.2
    assert np.isnan(found["facilitation"].per_seed[2])
    assert roles(failed, failed, 0.5).max() == UNDECIDED
    nothing = shares(failed, failed, 0.5)["facilitation"]
    assert np.isnan(nothing.always)
    assert np.isnan(nothing.per_head).all()


def test_ecdf_worked_by_hand() -> None:
    score = np.array([[[0.0, 0.5]], [[0.5, 1.0]]])
    found = ecdf(score, np.array([0.0, 0.5, 0.75, 1.0]))
    assert found.pooled.tolist() == [1.0, 0.75, 0.25, 0.25]
    assert found.low.tolist() == [1.0, 0.5, 0.0, 0.0]
    assert found.high.tolist() == [1.0, 1.0, 0.5, 0.5]
    assert len(ecdf(score).thresholds) == 101


def test_ecdf_of_failed_seeds_only_is_unknown() -> None:
    assert np.isnan(ecdf(np.full((2, 1, 2), np.nan)).pooled).all()


def test_quantile_correlation_compares_shapes_and_not_heads() -> None:
    values = np.random.default_rng(0).random(500)
    assert quantile_correlation(values, values[::-1].reshape(20, 25)) == pytest.approx(1.0)
    assert quantile_correlation(values, 0.2 * values + 0.1) == pytest.approx(1.0)
    assert quantile_correlation(values, values**8) < 0.95
    assert np.isnan(quantile_correlation(values, np.ones(5)))


def test_headline_leaves_out_what_is_not_known() -> None:
    held_out = np.array([[0.5, 0.5], [0.2, 0.4], [0.8, np.nan], [np.nan, np.nan]])
    found = headline(PLUS, MINUS, held_out, -held_out)
    assert found["always_needed"] == 0.2
    assert found["any_harmful"] == 0.4
    assert found["accuracy_ungated"] == 0.5
    assert found["accuracy_plus"] == 0.8
    assert found["accuracy_minus"] is None
    assert found["logp_plus"] == -0.8
