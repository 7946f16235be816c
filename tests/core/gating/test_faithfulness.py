"""Faithfulness, CPR and CMD by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.core.gating.faithfulness import cmd, cpr, faithfulness, head_counts


def test_sizes_are_whole_heads() -> None:
    assert head_counts(16) == [1, 3, 8, 16]
    assert head_counts(270) == [1, 2, 5, 13, 27, 54, 135, 270]
    assert head_counts(1000) == [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]
    assert head_counts(1) == [1]


@given(st.integers(1, 5000))
def test_sizes_rise_to_all_heads(heads: int) -> None:
    counts = head_counts(heads)
    assert counts == sorted(set(counts))
    assert counts[-1] == heads
    assert counts[0] >= 1


def test_the_ends_are_nothing_and_all() -> None:
    f = faithfulness(np.array([-11.0, -1.0, -6.0, 0.0]), -11.0, -1.0)
    np.testing.assert_allclose(f, [0, 1, 0.5, 1.1])
    assert np.isnan(faithfulness(np.array([-1.0]), -1.0, -1.0)).all()
    assert np.isnan(faithfulness(np.array([-1.0]), -1.0, -2.0)).all(), "nothing is gained"


def test_areas_by_hand() -> None:
    share = np.array([0.1, 0.2, 0.5, 1.0])
    f = np.array([0.0, 0.5, 1.2, 1.0])
    assert cpr(share, f) == pytest.approx(0.1 * 0.25 + 0.3 * 0.85 + 0.5 * 1.1)
    assert cmd(share, f) == pytest.approx(0.1 * 0.75 + 0.3 * 0.35 + 0.5 * 0.1)
    as_good = np.ones(4)
    assert cpr(share, as_good) == pytest.approx(0.9)
    assert cmd(share, as_good) == 0
    both = cpr(share, np.stack([f, as_good]))
    np.testing.assert_allclose(both, [float(cpr(share, f)), 0.9])
