"""Tokens in results: ids in arrays, and beside them what each id stands for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, SupportsInt

from headscope.core.model.glyphs import as_text, glyphs, label
from headscope.core.model.tokens import Tokenizer
from headscope.errors import NotFound
from headscope.figures.ranked import token_word

TokenName = Sequence[Any]
"""Id, text (None where its bytes are no text by themselves), bytes in hexadecimal."""


def token_names(tokenizer: Tokenizer, ids: Iterable[int]) -> list[TokenName]:
    """Of each id once, in order, as a result's values carry it; without those below 0."""
    return [token_name(tokenizer, token) for token in sorted({int(token) for token in ids if token >= 0})]


def token_name(tokenizer: Tokenizer, token: int) -> TokenName:
    """What an id stands for."""
    try:
        content = tokenizer.decode_bytes(token)
    except NotFound:  # weights may have rows that no token uses
        content = b""
    return [token, as_text(content), content.hex()]


def sequence_words(tokens: Sequence[TokenName]) -> list[str]:
    """What tokens of a text are called, one after the other: parts of a character by the character."""
    pieces = [bytes.fromhex(hexed) for _, _, hexed in tokens]
    return [label(piece, glyph) for piece, glyph in zip(pieces, glyphs(pieces), strict=True)]


class Words:
    """The tokens of a result, for labels and for tables."""

    def __init__(self, tokens: Iterable[TokenName]) -> None:
        self._known = {int(token): (text, hexed) for token, text, hexed in tokens}

    def label(self, token: SupportsInt) -> str:
        """With visible spaces, without markup."""
        _, hexed = self._known.get(int(token), (None, ""))
        return token_word(bytes.fromhex(hexed))

    def text(self, token: SupportsInt) -> str:
        """As it is; bytes that are no text in hexadecimal."""
        text, hexed = self._known.get(int(token), (None, ""))
        return text if text is not None else f"0x{hexed}"
