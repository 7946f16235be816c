"""What sufficiency finds: the curve over open heads, and the fewest that keep enough."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Integer

from headscope.analyses.base import Quantity, Result
from headscope.analyses.result import by_name

SCORES = ("log_probability", "accuracy", "kept")


@dataclass(frozen=True, kw_only=True, eq=False)
class SufficiencyResult(Result):
    """The curve by score with the first k heads of the order open, and the same in random orders.

    Log-probability in nats; ``kept`` is a share of the gain, the value that of the fewest heads. The points
    of the bisection are among the curve's, random orders are scored on the grid alone. ``order`` holds
    (layer, head) by rank, ``subset`` ones and zeros. ``fewest`` is None where there is no gain to keep.
    """

    NAME: ClassVar[str] = "sufficiency"
    VERSION: ClassVar[int] = 2

    open_heads: Integer[np.ndarray, " point"]
    curve: Mapping[str, Float[np.ndarray, " point"]] = by_name("{}", SCORES)
    random_open_heads: Integer[np.ndarray, " grid"]
    random: Mapping[str, Float[np.ndarray, "order grid"]] = by_name("random_{}", SCORES)
    order: Integer[np.ndarray, "rank 2"]
    facilitation: Float[np.ndarray, "layer head"]
    subset: Float[np.ndarray, "layer head"]
    fewest: int | None
    n_heads: int
    kept: float | None
    log_probability_closed: float
    log_probability_open: float
    n_test: int
    notes: Sequence[str]

    @property
    def uniform(self) -> float:
        """Log-probability of guessing every token of the vocabulary alike, nats: -log V."""
        return -math.log(self.model.d_vocab)

    def beyond_guessing(self, log_probability: Float[np.ndarray, " point"]) -> Float[np.ndarray, " point"]:
        """What is kept of the gain over guessing evenly: 0 at guessing, 1 with all heads open; NaN where the
        model as it is does no better than guessing.
        """
        gain = self.log_probability_open - self.uniform
        return np.asarray((log_probability - self.uniform) / (gain if gain > 0 else np.nan))

    @property
    def kept_beyond_guessing(self) -> float | None:
        """The same of the fewest heads that keep enough; None where there is none."""
        if self.fewest is None:
            return None
        kept = self.beyond_guessing(self.curve["log_probability"])[self.open_heads == self.fewest]
        return float(kept[0]) if len(kept) and np.isfinite(kept[0]) else None

    @property
    def floor(self) -> str:
        """What "kept" is measured from, in words: all heads closed, and what guessing evenly gives."""
        below = self.log_probability_closed < self.uniform
        beside = ", which is better" if below else ""
        told = (
            f"0 % is the model with all heads closed: {self.log_probability_closed:.2f} nats a token, where "
            f"guessing every token alike gives {self.uniform:.2f}{beside}. 100 % is the ungated model: "
            f"{self.log_probability_open:.2f}."
        ).replace("-", "−")
        kept = self.kept_beyond_guessing
        if not below or kept is None:
            return told
        share = f"{100 * kept:.1f}".replace("-", "−")
        return f"{told} Of the gain over such guessing, {self.fewest} heads keep {share} %."


QUANTITIES: Mapping[str, Quantity] = {
    "sufficient_heads": Quantity("Sufficient heads", "count"),
    "of_heads": Quantity("Heads in all", "count"),
    "kept": Quantity("Share of the gain kept", "share"),
    "kept_beyond_guessing": Quantity("Of the gain over guessing kept", "share"),
    "log_probability_all_open": Quantity("Log-probability, all heads open", "nats"),
    "log_probability_all_closed": Quantity("Log-probability, all heads closed", "nats"),
    "log_probability_guessing": Quantity("Log-probability, each token alike", "nats"),
}


def headline(result: SufficiencyResult, threshold: float = 0.5) -> dict[str, Any]:
    """How many heads suffice, of how many, and what they keep."""
    return {
        "sufficient_heads": result.fewest,
        "of_heads": result.n_heads,
        "kept": result.kept,
        "kept_beyond_guessing": result.kept_beyond_guessing,
        "log_probability_all_open": result.log_probability_open,
        "log_probability_all_closed": result.log_probability_closed,
        "log_probability_guessing": result.uniform,
    }
