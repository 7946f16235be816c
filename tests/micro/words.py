"""A tokenizer of single words for the micro models."""

from __future__ import annotations

from headscope.core.model.tokens import Tokenizer
from headscope.validation.words import word_tokenizer as words
from micro.planted import START, VOCAB


def word_tokenizer(n: int = VOCAB, bos: int | None = START) -> Tokenizer:
    """Token i is the word "wi"; token 0 and ``bos`` are special, and ``bos`` goes first."""
    return words(n, bos)
