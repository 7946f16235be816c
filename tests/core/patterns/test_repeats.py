"""Which tokens count as repeats."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from headscope.core.model.tokens import Token, Tokenizer
from headscope.core.patterns.repeats import copies


def _token(token_id: int, text: str = "x", special: bool = False) -> Token:
    return Token(token_id, 0, len(text.encode()), text.encode(), special)


@given(st.lists(st.integers(0, 4), max_size=30))
def test_copies_are_all_earlier_positions(ids: list[int]) -> None:
    found = copies([_token(i, special=i == 0) for i in ids])
    for position, before in enumerate(found):
        same = [p for p in range(position) if ids[p] == ids[position] and ids[position] != 0]
        assert before == same


@given(st.lists(st.integers(0, 2), max_size=30), st.integers(1, 4))
def test_the_latest_are_named_where_there_are_many(ids: list[int], most: int) -> None:
    tokens = [_token(i) for i in ids]
    assert copies(tokens, most=most) == [before[-most:] for before in copies(tokens)]


def test_folding_ignores_case_and_outer_spaces() -> None:
    words = ["The", " cat", " the", " CAT", "Straße", " STRASSE", " ", "\n", " "]
    tokens = [_token(i, word) for i, word in enumerate(words)]
    assert copies(tokens) == [[]] * 9
    assert copies(tokens, fold=True) == [[], [], [0], [1], [], [4], [], [], [6]]


def test_pieces_of_a_character_are_compared_by_their_bytes() -> None:
    tokens = [Token(i, 0, 1, byte, False) for i, byte in enumerate([b"\xf0", b"\x9f", b"\xf0"])]
    assert copies(tokens, fold=True) == [[], [], [0]]


def test_special_tokens_never_count(llama_folder: Path) -> None:
    tokenizer = Tokenizer.from_folder(llama_folder)
    tokens = tokenizer.tokens("the cat the cat", bos=True)
    doubled = [tokens[0], *tokens]
    found = copies(doubled)
    assert found[0] == found[1] == []
    assert any(found)
