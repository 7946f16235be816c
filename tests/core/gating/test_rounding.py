"""Whether gates are a circuit: by hand."""

from __future__ import annotations

import numpy as np
import pytest

from headscope.core.gating.rounding import Rounded


def test_a_fit_that_falls_is_no_circuit_though_the_mean_hardly_moves() -> None:
    soft, hard = np.array([0.74, 0.7, np.nan]), np.array([0.16, 0.7, 0.9])
    found = Rounded.of(soft, hard)
    assert len(found.soft) == 2
    assert found.largest == pytest.approx(-0.58)
    assert not found.is_circuit


def test_five_points_are_allowed_either_way() -> None:
    assert Rounded.of(np.array([0.5, 0.5]), np.array([0.46, 0.54])).is_circuit
    assert not Rounded.of(np.array([0.5, 0.5]), np.array([0.5, 0.56])).is_circuit


def test_without_scores_nothing_is_known() -> None:
    none = Rounded.of(np.full(2, np.nan), np.full(2, np.nan))
    assert np.isnan(none.largest)
    assert none.is_circuit
