"""Tokens with true byte spans. Reads tokenizer.json through the ``tokenizers`` library; loads no torch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Token:
    """One token: its id, the bytes [start, end) of the UTF-8 text it covers, those bytes, whether it is special.

    ``text`` is the bytes decoded, or None where they are not valid UTF-8 by themselves.
    """

    id: int
    start: int
    end: int
    bytes: bytes
    special: bool

    @property
    def text(self) -> str | None: ...


class Tokenizer:
    """A tokenizer file. ``hash`` identifies it; ``n_vocab`` its size; ``bos_id`` None where it has no BOS."""

    hash: str
    n_vocab: int
    bos_id: int | None
    adds_bos: bool

    @classmethod
    def from_folder(cls, folder: Path) -> Tokenizer: ...

    def encode(self, text: str, *, bos: bool | None = None) -> list[int]:
        """Ids of text, special tokens in text treated as text. bos None: the tokenizer's own policy."""
        ...

    def tokens(self, text: str, *, bos: bool | None = None) -> list[Token]: ...

    def decode_bytes(self, token_id: int) -> bytes: ...

    def is_special(self, token_id: int) -> bool: ...
