"""What the skip-trigram analysis finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int32, UInt16

from headscope.analyses.base import Quantity, Result
from headscope.analyses.token_names import TokenName
from headscope.core.model.info import head_name


@dataclass(frozen=True, kw_only=True, eq=False)
class SkipTrigramsResult(Result):
    """Of each of ``heads`` (layer, head) the strongest sources A, with their best B and C; the bigrams.

    ``q`` says how much B looks at A, ``o`` how much C is raised. ``crossed`` are A, B1, C1, B2, C2, with the
    scores of B1 C1, B2 C2, B1 C2, B2 C1. Arrays hold token ids, -1 and NaN where there is none; ``tokens``
    says what they stand for. ``vocabulary`` is how many ids were looked at.
    """

    NAME: ClassVar[str] = "skip-trigrams"
    VERSION: ClassVar[int] = 1

    heads: UInt16[np.ndarray, "head 2"]
    sources: Int32[np.ndarray, "head source"]
    scores: Float[np.ndarray, "head source"]
    destinations: Int32[np.ndarray, "head source near"]
    q: Float[np.ndarray, "head source near"]
    outputs: Int32[np.ndarray, "head source near"]
    o: Float[np.ndarray, "head source near"]
    crossed: Int32[np.ndarray, "head pair 5"]
    crossed_scores: Float[np.ndarray, "head pair 4"]
    crossed_margin: Float[np.ndarray, "head pair"]
    bigram_rows: Int32[np.ndarray, " bigram"]
    bigram_columns: Int32[np.ndarray, " bigram"]
    bigram_values: Float[np.ndarray, " bigram"]
    limits: Sequence[str]
    notes: Sequence[str]
    tokens: Sequence[TokenName]
    vocabulary: int


QUANTITIES: Mapping[str, Quantity] = {
    "heads": Quantity("Heads looked at", "count"),
    "worst_crossed_head": Quantity("Head of the strongest crossed pair", "head"),
    "worst_crossed_score": Quantity("Strongest crossed score"),
}


def headline(result: SkipTrigramsResult, threshold: float = 0.5) -> dict[str, Any]:
    """How many heads were looked at, and the strongest crossed pair, where any head has one."""
    worst = result.crossed_scores[..., 2:].min(-1)
    worst = np.where(np.isfinite(worst), worst, -np.inf)
    if not np.isfinite(worst).any():
        return {"heads": len(result.heads), "worst_crossed_head": None, "worst_crossed_score": None}
    head = int(np.argmax(worst.max(-1)))
    return {
        "heads": len(result.heads),
        "worst_crossed_head": head_name(result.heads[head]),
        "worst_crossed_score": float(worst.max()),
    }
