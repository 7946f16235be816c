"""What the composition analysis finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from headscope.analyses.base import Quantity, Result
from headscope.core.model.info import head_name

KINDS = ("q", "k", "v")

Scores = Float[np.ndarray, "layer head layer head"]
"""[earlier layer, head, later layer, head]: above the baseline, NaN where the layers aren't in this order."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CompositionResult(Result):
    """Q, K and V composition of every pair of heads; ``baseline`` is random matrices' mean score."""

    NAME: ClassVar[str] = "composition"
    VERSION: ClassVar[int] = 1

    q: Scores
    k: Scores
    v: Scores
    baseline: float
    limits: Sequence[str]
    notes: Sequence[str]

    def scores(self, kind: str) -> Scores:
        """Those of one of ``KINDS``."""
        return {"q": self.q, "k": self.k, "v": self.v}[kind]


QUANTITIES: Mapping[str, Quantity] = {
    **{
        name: quantity
        for kind in KINDS
        for name, quantity in (
            (f"strongest_{kind}_pair", Quantity(f"Strongest {kind.upper()} pair", "pair")),
            (f"strongest_{kind}_score", Quantity(f"Strongest {kind.upper()} score")),
        )
    },
    "baseline": Quantity("Random matrices"),
}


def headline(result: CompositionResult, threshold: float = 0.5) -> dict[str, Any]:
    """The strongest pair of each kind, and what random matrices would score."""
    numbers: dict[str, Any] = {}
    for kind in KINDS:
        scores = result.scores(kind)
        place = np.unravel_index(np.nanargmax(scores), scores.shape)
        pair = f"{head_name(place[:2])} → {head_name(place[2:])}"
        numbers |= {f"strongest_{kind}_pair": pair, f"strongest_{kind}_score": float(scores[place])}
    return numbers | {"baseline": float(result.baseline)}
