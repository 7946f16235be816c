"""Cuts of work: everything once, nothing too long, the same wherever it is cut."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.analyses import cutting
from headscope.analyses.cutting import PIECE_FLOP, blocks, fitting, span


@given(wanted=st.integers(1, 5000), flop=st.floats(1.0, 1e15), most=st.integers(1, 5000))
def test_a_share_fits_the_piece_unless_a_single_one_does_not(wanted: int, flop: float, most: int) -> None:
    fit = fitting(wanted, flop, most)
    assert 1 <= fit <= min(wanted, most)
    assert fit == 1 or fit * flop <= PIECE_FLOP


@given(wanted=st.integers(1, 5000), flop=st.floats(1.0, 1e15), most=st.integers(1, 5000))
def test_shares_are_equal_and_no_more_than_needed(wanted: int, flop: float, most: int) -> None:
    """The fewest pieces there can be, and among those the smallest largest share."""
    room = max(1, min(most, wanted, int(PIECE_FLOP // flop)))
    pieces = math.ceil(wanted / room)
    fit = fitting(wanted, flop, most)
    assert math.ceil(wanted / fit) == pieces
    assert fit == 1 or math.ceil(wanted / (fit - 1)) > pieces


def test_worked_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting, "PIECE_FLOP", 10.0)
    assert fitting(10, 3.0, 99) == 3  # 3, 3, 3, 1: four pieces, as few as there can be
    assert fitting(4, 3.0, 99) == 2  # 2 and 2 rather than 3 and 1
    assert fitting(4, 3.0, 1) == 1
    assert fitting(3, 100.0, 99) == 1
    assert fitting(3, 0.1, 99) == 3


@given(start=st.integers(-50, 50), length=st.integers(0, 300), size=st.integers(1, 320))
def test_blocks_hold_each_number_once_and_all_but_the_last_are_full(
    start: int, length: int, size: int
) -> None:
    whole = range(start, start + length)
    cut = list(blocks(whole, size))
    assert [index for block in cut for index in block] == list(whole)
    assert all(len(block) == size for block in cut[:-1])
    assert all(cut)


@given(st.integers(1, 300), st.integers(1, 300))
def test_no_two_blocks_are_called_the_same(length: int, size: int) -> None:
    names = [span(block) for block in blocks(range(length), size)]
    assert len(set(names)) == len(names)
    assert names[0].startswith("0-")
    assert names[-1].endswith(f"-{length - 1}")
