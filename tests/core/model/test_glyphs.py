"""What tokens are called, on pieces cut by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.core.model.glyphs import Glyph, glyphs, label, sequence_glyphs

PILOT = "👩\u200d🚀"


def cut(text: str, *ends: int) -> list[bytes]:
    content = text.encode()
    return [content[start:end] for start, end in zip([0, *ends], [*ends, len(content)], strict=True)]


def labels(pieces: list[bytes]) -> list[str]:
    return [label(piece, glyph) for piece, glyph in zip(pieces, glyphs(pieces), strict=True)]


def test_a_character_is_drawn_over_its_tokens() -> None:
    assert glyphs(cut("a日b", 1, 2, 3, 4)) == [
        None,
        Glyph("日", 1, 3),
        Glyph("日", 2, 3),
        Glyph("日", 3, 3),
        None,
    ]


@pytest.mark.parametrize(
    ("pieces", "called"),
    [
        (cut("日本", 2, 5), ["日本 1/3", "日本 2/3", "日本 3/3"]),  # the middle token holds parts of both
        (cut(" при", 6), ["·при 1/2", "·при 2/2"]),
        (cut(PILOT, 4, 7, 9), [f"{PILOT} {part}/4" for part in (1, 2, 3, 4)]),  # one cut of three is inside
        (cut("👍🏽", 4), ["👍", "🏽"]),  # no cut is: each is a character of its own
        (cut("e\u0301", 2), ["e\u0301 1/2", "e\u0301 2/2"]),
        (cut("e\u0301", 1), ["e", "◌\u0301"]),
        (cut("कि", 3), ["क", "◌ि"]),
        ([b"a", b"\xe6\x97"], ["a", "0xe697"]),  # its third byte isn't there
        ([b"\xff", b"\x80", "é".encode()], ["0xff", "0x80", "é"]),
        ([b"", b"a\r\n\t", b"\x00"], ["∅", "a␍⏎⇥", "0x00"]),
        ([f"a{chr(0x200D)}b".encode(), b"\xe2\x80\xae"], ["a0x200db", "0x202e"]),
    ],
)
def test_names(pieces: list[bytes], called: list[str]) -> None:
    assert labels(pieces) == called


def test_what_a_normaliser_made_one_is_shared() -> None:
    assert glyphs([b"e", "\u0301".encode(), b"x"], [True, False, False]) == [
        Glyph("e\u0301", 1, 2),
        Glyph("e\u0301", 2, 2),
        None,
    ]


def test_no_character_goes_across_a_special_token() -> None:
    whole = cut("日", 1)
    assert [glyph and glyph.part for glyph in sequence_glyphs([None, *whole, None])] == [None, 1, 2, None]
    assert sequence_glyphs([whole[0], None, whole[1]]) == [None, None, None]
    assert sequence_glyphs([]) == []


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), st.data())
def test_labels_of_a_text_are_never_bytes(text: str, data: st.DataObject) -> None:
    n = len(text.encode())
    ends = sorted(data.draw(st.sets(st.integers(1, n - 1)))) if n > 1 else []
    pieces = cut(text, *ends)
    shared = glyphs(pieces)
    for piece, glyph in zip(pieces, shared, strict=True):
        assert (glyph.text if glyph else piece.decode()) in text
    for first, glyph in enumerate(shared):
        if glyph and glyph.part == 1:
            run = pieces[first : first + glyph.parts]
            assert b"".join(run).decode() == glyph.text
            names = [label(piece, own) for piece, own in zip(run, shared[first:], strict=False)]
            assert len(set(names)) == glyph.parts
