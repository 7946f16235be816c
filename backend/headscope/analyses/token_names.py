"""Tokens in results: ids in arrays, and beside them what each id stands for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsInt

from headscope.analyses.base import Result
from headscope.core.model.tokens import Tokenizer
from headscope.errors import NotFound
from headscope.figures.ranked import token_word


def token_names(tokenizer: Tokenizer, ids: Iterable[int]) -> list[list[Any]]:
    """``[[id, text or None, hex], ...]`` of each id once, as a result's values carry it."""
    names = []
    for token in sorted({int(token) for token in ids if token >= 0}):
        try:
            content = tokenizer.decode_bytes(token)
        except NotFound:  # weights may have rows that no token uses
            content = b""
        try:
            text: str | None = content.decode()
        except UnicodeDecodeError:
            text = None
        names.append([token, text, content.hex()])
    return names


class Words:
    """The tokens of a result, for labels and for tables."""

    def __init__(self, result: Result) -> None:
        self._known = {int(token): (text, hexed) for token, text, hexed in result.values["tokens"]}

    def label(self, token: SupportsInt) -> str:
        """With visible spaces, without markup."""
        text, hexed = self._known.get(int(token), (None, ""))
        return token_word(text, hexed)

    def text(self, token: SupportsInt) -> str:
        """As it is; bytes that are no text in hexadecimal."""
        text, hexed = self._known.get(int(token), (None, ""))
        return text if text is not None else f"0x{hexed}"
