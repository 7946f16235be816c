"""What estimates say of arithmetic."""

from __future__ import annotations

import pytest

from headscope.analyses.costing import tflop


@pytest.mark.parametrize(
    ("flop", "words"),
    [
        (5.75e9, "0.00575 TFLOP"),
        (23.94e12, "23.9 TFLOP"),
        (99.6e12, "99.6 TFLOP"),
        (1.034e16, "10,340 TFLOP"),
    ],
)
def test_arithmetic_is_said_in_digits_however_much_it_is(flop: float, words: str) -> None:
    assert tflop(flop) == words
