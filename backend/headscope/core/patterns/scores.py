"""What a head's attention pattern is scored by. Loads no torch: figures and pages name the scores too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from jaxtyping import Float, UInt8


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

ABOVE: Final = ("induction", "duplicate", "previous")
"""Scores that name heads: each also above its columns' level (``core.patterns.above``), in this order."""

ABOVE_LEVEL: Final = (
    "What other tokens give the same columns is taken off: a head that always looks at one token has 0."
)
"""How these read."""

FEWEST_QUERIES: Final = 8
"""Queries below which no head is named by a score above its columns' level."""

FAINT: Final = 0.1
CLEAR: Final = 0.3
"""Scores above the columns' level from which a head is said to do it, faintly and clearly. **Choice**"""

Claim = Literal["none", "faint", "clear", "too few"]

CLAIMS: Final[tuple[Claim, ...]] = get_args(Claim)
"""By code."""


def tells(queries: int) -> bool:
    """Whether so many queries are enough to name a head by."""
    return queries >= FEWEST_QUERIES


def claims(
    score: Float[np.ndarray, "*heads"], low: Float[np.ndarray, "*heads"], queries: int
) -> UInt8[np.ndarray, "*heads"]:
    """What may be said of heads by a score above their columns' level and its interval's lower end, as places
    in ``CLAIMS``: clear needs the score and a lower end that is faint at least, faint a lower end above 0.
    """
    if not tells(queries):
        return np.full(score.shape, CLAIMS.index("too few"), np.uint8)
    faint = (score >= FAINT) & (low > 0)
    clear = (score >= CLEAR) & (low >= FAINT)
    return np.where(clear, CLAIMS.index("clear"), faint).astype(np.uint8)
