"""The documents that a run reads: stored prompts, or the passages that come with Headscope."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
from jaxtyping import UInt32

from headscope.analyses.in_context_learning.schema import ENOUGH, FEWEST, TOKENS
from headscope.core.model.tokens import Tokenizer
from headscope.errors import HeadscopeError, Invalid

SOURCE = "plays of William Shakespeare"


@cache
def shipped() -> tuple[str, ...]:
    """64 passages, none overlapping another; README.md beside them says from where."""
    packed = (files(__name__) / "shakespeare.jsonl.gz").read_bytes()
    return tuple(json.loads(line) for line in gzip.decompress(packed).splitlines())


@dataclass(frozen=True, eq=False)
class Beginnings:
    """The first 512 tokens of documents, which texts they are (from 0), and how many texts before the last of
    them were too short.
    """

    tokens: UInt32[np.ndarray, "document position"]
    numbers: UInt32[np.ndarray, " document"]
    short: int


def beginnings(
    tokenizer: Tokenizer, texts: Sequence[str], most: int, checkpoint: Callable[[], None] = lambda: None
) -> Beginnings:
    """Of the first ``most`` texts that have 512 tokens, BOS by the tokenizer's own policy.

    Raises ``Invalid`` (too-few-documents) below 20 of them, and names a text that has no tokens.
    """
    found: dict[int, list[int]] = {}
    short = 0
    for index, text in enumerate(texts):
        if len(found) == most:
            break
        checkpoint()
        ids = _encoded(tokenizer, text, index)
        if len(ids) < TOKENS:
            short += 1
        else:
            found[index] = ids[:TOKENS]
    if len(found) < FEWEST:
        raise Invalid(
            f"{len(found)} of {len(texts)} documents have {TOKENS} tokens or more; the score needs {FEWEST}, "
            f"and wants {ENOUGH}.",
            "Save longer prompts, a document each, or leave them out: then passages of Shakespeare are read.",
            code="too-few-documents",
        )
    return Beginnings(np.array(list(found.values()), np.uint32), np.array(list(found), np.uint32), short)


def _encoded(tokenizer: Tokenizer, text: str, index: int) -> list[int]:
    # A token covers a byte or more, but for BOS and the space that SentencePiece puts first.
    if len(text.encode()) + 2 < TOKENS:
        return []
    try:
        return tokenizer.encode(text)
    except HeadscopeError as error:
        raise error.about(f"Document {index + 1}") from error
