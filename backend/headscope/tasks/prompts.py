"""Prompts as analyses read them: texts under an id that is the hash of their content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from headscope.errors import Invalid, TooLarge
from headscope.files.text import unstorable
from headscope.messages import MAX_TEXT

MAX_PROMPTS: Final = 10_000
_BEGINNING: Final = 120


@dataclass(frozen=True)
class PromptSet:
    """A stored prompt, or a batch of them in order. ``id`` is ``content_id`` of the texts."""

    id: str
    name: str
    texts: tuple[str, ...]


def prompt_set(texts: Sequence[str], name: str = "") -> PromptSet:
    """Texts checked and named; raises ``Invalid`` (prompt-empty, not-text, too-long), ``TooLarge``."""
    if not texts:
        raise Invalid("There is no prompt.", "Write at least one character.", code="prompt-empty")
    if len(texts) > MAX_PROMPTS:
        raise TooLarge(
            f"There are {len(texts):,} prompts; at most {MAX_PROMPTS:,} are taken.", "Send fewer prompts."
        )
    for number, text in enumerate(texts, 1):
        check_text(text, f"Prompt {number}" if len(texts) > 1 else "The prompt")
    if fault := unstorable(name):
        raise Invalid(f"The name has {fault}.", "Type it again.", code="not-text")
    return PromptSet(content_id(texts), name.strip(), tuple(texts))


def check_text(text: str, what: str) -> None:
    """Raise ``Invalid`` where a text can't be a prompt; ``what`` begins the message, e.g. "Line 3"."""
    if not text:
        raise Invalid(f"{what} is empty.", "Write at least one character.", code="prompt-empty")
    if len(text) > MAX_TEXT:
        raise Invalid(
            f"{what} has {len(text):,} characters; at most {MAX_TEXT:,} are taken.",
            "Shorten it, or split it into several prompts.",
            code="too-long",
        )
    if fault := unstorable(text):
        raise Invalid(f"{what} has {fault}.", "Write the character itself, or leave it out.", code="not-text")


def content_id(texts: Sequence[str]) -> str:
    """First 20 hexadecimal digits of the SHA-256 of the texts as JSON: the same texts have the same id."""
    canonical = json.dumps(list(texts), separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:20]


def beginning(text: str) -> str:
    """A text's first characters on one line, for lists."""
    start = " ".join(text[: 2 * _BEGINNING].split())
    return start if len(start) <= _BEGINNING and len(text) <= 2 * _BEGINNING else start[:_BEGINNING] + "…"
