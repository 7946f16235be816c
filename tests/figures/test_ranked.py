"""Labels of ranked bars."""

from __future__ import annotations

import pytest

from headscope.core.model.glyphs import Glyph
from headscope.figures.ranked import token_word


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b" the", "·the"),
        (b"\n", "⏎"),
        (b"\x12", "0x12"),
        (b"\xe1\x88", "0xe188"),
        (b"<b>", "&lt;b&gt;"),
    ],
)
def test_a_token_in_a_label(content: bytes, word: str) -> None:
    assert token_word(content) == word


def test_a_part_of_a_character_in_a_label() -> None:
    assert token_word(b"\xe6", Glyph("<日", 1, 3)) == "&lt;日 1/3"
