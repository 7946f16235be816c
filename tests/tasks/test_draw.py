from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.tasks.draw import distinct, numbers, ordered


def test_golden_values() -> None:
    # Runs are named by seed: these numbers may never change.
    assert distinct("a", 5, 5) == [2, 0, 4, 3, 1]
    assert ordered("k", ["a", "b", "c", "d"]) == [0, 2, 3, 1]


@given(st.text(max_size=5), st.integers(1, 50), st.integers(0, 50))
def test_distinct(key: str, below: int, count: int) -> None:
    if count > below:
        with pytest.raises(ValueError, match="different"):
            distinct(key, below, count)
        return
    drawn = distinct(key, below, count)
    assert len(set(drawn)) == count
    assert all(0 <= number < below for number in drawn)
    assert distinct(key, below, below)[:count] == drawn


def test_uniform() -> None:
    counts = Counter(islice(numbers("uniform", 10), 10_000))
    assert all(abs(counts[i] - 1000) < 150 for i in range(10))  # five standard deviations


@given(st.lists(st.text(max_size=4)))
def test_ordered_permutes(items: list[str]) -> None:
    assert sorted(ordered("key", items)) == list(range(len(items)))
