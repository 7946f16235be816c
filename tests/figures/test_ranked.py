"""Labels of ranked bars."""

from __future__ import annotations

import pytest

from headscope.figures.ranked import token_word


@pytest.mark.parametrize(
    ("text", "bytes_", "word"),
    [
        (" the", b" the", "·the"),
        ("\n", b"\n", "⏎"),
        ("\x12", b"\x12", "0x12"),
        (None, b"\xe1\x88", "0xe188"),
        ("<b>", b"<b>", "&lt;b&gt;"),
    ],
)
def test_a_token_in_a_label(text: str | None, bytes_: bytes, word: str) -> None:
    assert token_word(text, bytes_.hex()) == word
