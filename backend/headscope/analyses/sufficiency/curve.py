"""A curve of log-probability over the number of open heads, and where it has kept enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from headscope.analyses.base import Arrays


@dataclass(frozen=True)
class Curve:
    """Points in the order of ``k``, the number of open heads: from none to all."""

    k: np.ndarray
    log_probability: np.ndarray
    accuracy: np.ndarray

    @classmethod
    def of(cls, chosen: Sequence[Arrays], *more: Arrays) -> Curve:
        """From pieces that hold some points each."""
        parts = [*chosen, *more]
        k, logp, accuracy = (
            np.concatenate([part[name] for part in parts]) for name in ("k", "log_probability", "accuracy")
        )
        order = np.argsort(k, kind="stable")
        return cls(k[order].astype(int), logp[order], accuracy[order])

    def gains(self) -> bool:
        """Whether the ungated model does better than with all heads closed."""
        return bool(self.log_probability[-1] > self.log_probability[0])

    def kept(self) -> np.ndarray:
        """The share of the gain at each point: 0 with all closed, 1 with all open; it may go beyond."""
        return self.share(self.log_probability)

    def share(self, log_probability: np.ndarray) -> np.ndarray:
        """(logp - logp with all closed) / (logp with all open - logp with all closed); NaN without a gain."""
        gain = self.log_probability[-1] - self.log_probability[0]
        return np.asarray((log_probability - self.log_probability[0]) / (gain if gain > 0 else np.nan))


def bisect(k: np.ndarray, kept: np.ndarray, keep: float, ask: Callable[[int], float]) -> int:
    """The fewest heads that keep enough, between the first point that does and the point before it.

    ``ask`` gives what is kept at a number of heads. On a curve that isn't monotone there may be fewer that
    keep enough, between other points; one head less than the answer never does.
    """
    enough = int(np.argmax(kept >= keep))
    if enough == 0:
        return int(k[0])
    low, high = int(k[enough - 1]), int(k[enough])
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if ask(middle) >= keep else (middle, high)
    return high
