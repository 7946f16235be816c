"""What the in-context-learning analysis finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, UInt16, UInt32

from headscope.analyses.base import Quantity, Result
from headscope.analyses.in_context_learning.schema import EARLY, LATE
from headscope.core.model.info import head_name
from headscope.core.statistics.intervals import Interval, bootstrap_interval

PerDocument = Float[np.ndarray, " document"]


@dataclass(frozen=True, kw_only=True, eq=False)
class InContextLearningResult(Result):
    """Losses in nats of every token of every document, NaN for the first token.

    ``documents`` are their numbers among the texts, from 0. With each of ``closed_heads`` (layer, head)
    closed alone, ``closed_at`` holds the losses at positions 50 and 500, ``closed_around`` their means over
    the window.
    """

    NAME: ClassVar[str] = "in-context-learning"
    VERSION: ClassVar[int] = 1

    loss: Float[np.ndarray, "document position"]
    documents: UInt32[np.ndarray, " document"]
    closed_heads: UInt16[np.ndarray, "head 2"]
    closed_at: Float[np.ndarray, "head document 2"]
    closed_around: Float[np.ndarray, "head document 2"]
    n_short: int
    source: str
    notes: Sequence[str]

    @property
    def scores(self) -> PerDocument:
        """Loss at position 500 less that at 50, of each document."""
        loss = self.loss.astype(np.float64)
        return np.asarray(loss[:, LATE] - loss[:, EARLY])

    @property
    def smoothed(self) -> PerDocument:
        """The same of means over the window."""
        return np.asarray(self._mean(LATE) - self._mean(EARLY))

    @property
    def changes(self) -> Float[np.ndarray, "head document"]:
        """By how much the score rises when a head is closed."""
        return np.asarray(_difference(self.closed_at) - self.scores)

    @property
    def smoothed_changes(self) -> Float[np.ndarray, "head document"]:
        """By how much the smoothed score rises."""
        return np.asarray(_difference(self.closed_around) - self.smoothed)

    @property
    def early_rises(self) -> Float[np.ndarray, "head document"]:
        """By how much the mean loss around position 50 rises: what a head is worth early in a text."""
        return np.asarray(self.closed_around[..., 0].astype(np.float64) - self._mean(EARLY))

    def _mean(self, position: int) -> PerDocument:
        window = self.params["window"]
        near = self.loss[:, position - window : position + window + 1]
        return np.asarray(near.mean(axis=1, dtype=np.float64))


QUANTITIES: Mapping[str, Quantity] = {
    "score": Quantity("In-context-learning score", "nats"),
    "score_low": Quantity("Score, lower end of 95 %", "nats"),
    "score_high": Quantity("Score, upper end of 95 %", "nats"),
    "smoothed": Quantity("Smoothed score", "nats"),
    "smoothed_low": Quantity("Smoothed score, lower end of 95 %", "nats"),
    "smoothed_high": Quantity("Smoothed score, upper end of 95 %", "nats"),
    "documents": Quantity("Documents", "count"),
    "head": Quantity("Head whose closing costs the most of it", "head"),
    "head_change": Quantity("Rise of the smoothed score without it", "nats"),
}


def headline(result: InContextLearningResult, threshold: float = 0.5) -> dict[str, Any]:
    """The score as defined and smoothed, with intervals, and the head that costs the most of it."""
    numbers: dict[str, Any] = {}
    for name, values in (("score", result.scores), ("smoothed", result.smoothed)):
        low, high = interval(values)
        numbers |= {name: float(values.mean()), f"{name}_low": low, f"{name}_high": high}
    numbers["documents"] = len(result.documents)
    if len(result.closed_heads):
        mean = result.smoothed_changes.mean(axis=1)
        most = int(np.argmax(mean))
        numbers |= {"head": head_name(result.closed_heads[most]), "head_change": float(mean[most])}
    return numbers


def interval(values: PerDocument) -> Interval:
    """Of the mean over documents, at 95 %."""
    low, high = bootstrap_interval(values[None])
    return float(low[0]), float(high[0])


def _difference(pair: Float[np.ndarray, "head document 2"]) -> Float[np.ndarray, "head document"]:
    wide = pair.astype(np.float64)
    return wide[..., 1] - wide[..., 0]
