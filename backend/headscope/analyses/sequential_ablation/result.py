"""What sequential ablation finds: log-probability as heads are taken, by score and at random."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Integer

from headscope.analyses.base import Quantity, Result
from headscope.core.gating.roles import SCORE_NAMES

ByScore = Float[np.ndarray, "score seed count"]
"""In nats; scores in the order of SCORE_NAMES, counts those of ``k``."""

AtRandom = Float[np.ndarray, "order count"]


@dataclass(frozen=True, kw_only=True, eq=False)
class SequentialAblationResult(Result):
    """Log-probability with the first k heads of an order closed, with them opened, and ``delta`` between.

    Orders hold flat head numbers up to K, ``score`` is in that order; ``random_seed`` says by index whose
    base mask a random order has. ``area`` and ``end`` (delta at K) are in nats, by order and "random";
    ``while_role`` is what ``summary.values`` says.
    """

    NAME: ClassVar[str] = "sequential-ablation"
    VERSION: ClassVar[int] = 1

    k: Integer[np.ndarray, " count"]
    delta: ByScore
    closed: ByScore
    opened: ByScore
    order: Integer[np.ndarray, "score seed rank"]
    score: Float[np.ndarray, "score seed rank"]
    random_delta: AtRandom
    random_closed: AtRandom
    random_opened: AtRandom
    random_order: Integer[np.ndarray, "order rank"]
    random_seed: Integer[np.ndarray, " order"]
    area: Mapping[str, float]
    end: Mapping[str, float]
    while_role: Mapping[str, Mapping[str, float]]
    orders: int
    n_test: int
    failed_seeds: Sequence[int]
    notes: Sequence[str]

    @property
    def uniform(self) -> float:
        """Log-probability of guessing every token of the vocabulary alike, nats: -log V."""
        return -math.log(self.model.d_vocab)

    @property
    def floor(self) -> str:
        """What the curves are to be held against, in words: guessing, and every head closed."""
        told = f"Guessing every token alike gives {self.uniform:.2f} nats"
        if int(self.k[-1]) == self.model.n_layers * self.model.n_heads:
            closed = float(np.nanmean(self.closed[..., -1]))
            below = ": below guessing, it is surely wrong" if closed < self.uniform else ""
            told += f", all heads closed {closed:.2f}{below}"
        return f"{told}.".replace("-", "−")

    def ranked(self, score: str) -> str:
        """How a score's own order lies among the random ones while its heads last, in words."""
        rank, nothing = _RANKS[score]
        mine = self.while_role[score]
        if not mine["heads"]:
            return nothing
        words = "nearer 0 than" if rank == "nearer" else rank
        return f"{words} {mine[rank]} of {self.orders} random orders"


QUANTITIES: Mapping[str, Quantity] = {
    "needed_closed_first": Quantity("Needed closed first"),
    "harmful_closed_first": Quantity("Harmful closed first"),
    "irrelevant_closed_first": Quantity("Irrelevant closed first"),
    **{f"{name}_area": Quantity(f"Mean change by {name}", "nats") for name in SCORE_NAMES},
    "random_area": Quantity("Mean change at random", "nats"),
    "delta_at_K": Quantity("Change with K heads taken", "nats"),
}


def headline(result: SequentialAblationResult, threshold: float = 0.5) -> dict[str, Any]:
    """How the orders rank among random ones while their roles last, mean changes, the change at K."""
    return {
        "needed_closed_first": result.ranked("facilitation"),
        "harmful_closed_first": result.ranked("interference"),
        "irrelevant_closed_first": result.ranked("irrelevance"),
        **{f"{name}_area": value for name, value in result.area.items()},
        "delta_at_K": result.end["facilitation"],
    }


_RANKS = {
    "facilitation": ("below", "no head is needed"),
    "interference": ("above", "no head is harmful"),
    "irrelevance": ("nearer", "every head matters"),
}
