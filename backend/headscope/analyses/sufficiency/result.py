"""What sufficiency finds: the curve over open heads, and the fewest that keep enough."""

from __future__ import annotations

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


QUANTITIES: Mapping[str, Quantity] = {
    "sufficient_heads": Quantity("Sufficient heads", "count"),
    "of_heads": Quantity("Heads in all", "count"),
    "kept": Quantity("Share of the gain kept", "share"),
    "log_probability_all_open": Quantity("Log-probability, all heads open", "nats"),
    "log_probability_all_closed": Quantity("Log-probability, all heads closed", "nats"),
}


def headline(result: SufficiencyResult, threshold: float = 0.5) -> dict[str, Any]:
    """How many heads suffice, of how many, and what they keep."""
    return {
        "sufficient_heads": result.fewest,
        "of_heads": result.n_heads,
        "kept": result.kept,
        "log_probability_all_open": result.log_probability_open,
        "log_probability_all_closed": result.log_probability_closed,
    }
