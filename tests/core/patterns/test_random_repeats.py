"""Repeated random tokens: ordinary, different within a copy, the same for the same seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from headscope.core.model.tokens import Tokenizer
from headscope.core.patterns.random_repeats import ordinary_tokens, repeated_tokens
from headscope.errors import Invalid


@pytest.fixture(scope="module")
def tokenizer(llama_folder: Path) -> Tokenizer:
    return Tokenizer.from_folder(llama_folder)


def test_rows_repeat_after_bos(tokenizer: Tokenizer) -> None:
    rows = repeated_tokens(tokenizer, 20, 5, seed=1, copies=3)
    assert rows.shape == (5, 61)
    assert (rows[:, 0] == tokenizer.bos_id).all()
    assert np.array_equal(rows[:, 1:21], rows[:, 21:41])
    assert np.array_equal(rows[:, 1:21], rows[:, 41:])
    assert all(len(set(row[1:21])) == 20 for row in rows)
    assert repeated_tokens(tokenizer, 20, 5, seed=1, bos=False).shape == (5, 40)


def test_tokens_are_ordinary_text(tokenizer: Tokenizer) -> None:
    rows = repeated_tokens(tokenizer, 30, 20, seed=0, bos=False)
    for token in np.unique(rows):
        assert not tokenizer.is_special(int(token))
        assert tokenizer.decode_bytes(int(token)).decode().strip().isprintable()
    assert set(np.unique(rows)) <= set(ordinary_tokens(tokenizer))


def test_a_draw_is_the_seeds_and_its_number(tokenizer: Tokenizer) -> None:
    five = repeated_tokens(tokenizer, 10, 5, seed=4)
    assert np.array_equal(five[:2], repeated_tokens(tokenizer, 10, 2, seed=4))
    assert not np.array_equal(five[0], five[1])
    assert not np.array_equal(five[0], repeated_tokens(tokenizer, 10, 1, seed=5)[0])


def test_more_than_the_vocabulary_has_is_refused(tokenizer: Tokenizer) -> None:
    there = len(list(ordinary_tokens(tokenizer)))
    assert repeated_tokens(tokenizer, there, 1, seed=0).shape == (1, 2 * there + 1)
    with pytest.raises(Invalid, match=f"at most {there}"):
        repeated_tokens(tokenizer, there + 1, 1, seed=0)
