"""What a head's attention pattern is scored by. Loads no torch: figures and pages name the scores too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Score:
    """A number per head: its name in code, its title, a sentence how to read it, its unit if it has one."""

    name: str
    title: str
    reading: str
    unit: str | None = None


SCORES: Final = (
    Score("induction", "Induction", "Attention of a repeated token to the token after its latest copy."),
    Score(
        "prefix", "Prefix matching", "Attention of a repeated token to all tokens that follow a copy of it."
    ),
    Score("duplicate", "Duplicate token", "Attention of a repeated token to its earlier copies."),
    Score("previous", "Previous token", "Attention to the token just before."),
    Score("current", "Current token", "Attention of a token to itself."),
    Score("sink", "First token", "Attention to the first token, where heads rest that have nothing to do."),
    Score("entropy", "Spread", "How widely a head looks: 0 for a single token, more for many.", "nats"),
)
"""In the order of every array of scores."""
