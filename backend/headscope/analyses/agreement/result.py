"""What agreement finds: what every method says of every head, how far they agree, and why they don't."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, Literal

import numpy as np
from jaxtyping import Float, Integer, UInt8, UInt16

from headscope.analyses.agreement.methods import BY_NAME, NAMES, Seen, of_arrays
from headscope.analyses.agreement.statistics import NUMBERS
from headscope.analyses.base import Quantity, Result
from headscope.analyses.result import by_name

PerHead = Float[np.ndarray, "layer head"]

Score = Literal["facilitation", "interference"]
OVER_SEEDS: Final = ("mean", "low", "high")
_CORRELATED: Final = ("left_out", "mediation", "direct")


@dataclass(frozen=True, kw_only=True, eq=False)
class AgreementResult(Result):
    """By method: its effects, the heads that it finds, and standard errors where finding rests on them.

    ``statistics`` has a row for each of ``methods`` but gating and the columns ``statistics.NUMBERS``;
    ``correlations`` is of gating, interference and the others. ``heads`` are those in dispute as (layer,
    head), the most disputed first; ``disagreements`` says of the first of them what ``report`` does.
    """

    NAME: ClassVar[str] = "agreement"
    VERSION: ClassVar[int] = 1

    effects: Mapping[str, PerHead] = by_name("{}", NAMES)
    found: Mapping[str, UInt8[np.ndarray, "layer head"]] = by_name("{}_found", NAMES)
    errors: Mapping[str, PerHead] = by_name("{}_error", NAMES)
    facilitation: Mapping[str, PerHead] = by_name("facilitation_{}", OVER_SEEDS)
    interference: Mapping[str, PerHead] = by_name("interference_{}", OVER_SEEDS)
    counts: Mapping[str, Integer[np.ndarray, " 1"]] = by_name("{}", ("n_seeds",))
    seeds_needing: PerHead
    statistics: Float[np.ndarray, "method number"]
    correlations: Float[np.ndarray, "measure measure"]
    heads: UInt16[np.ndarray, "disputed 2"]
    strength: Float[np.ndarray, " disputed"]
    methods: Sequence[str]
    disagreements: Sequence[Mapping[str, Any]]
    n_disputed: int
    n_seeds: int
    notes: Sequence[str]

    @cached_property
    def seen(self) -> dict[str, Seen]:
        """What each method says, gating first."""
        return of_arrays(self.arrays)

    @property
    def others(self) -> Sequence[str]:
        """All methods but gating."""
        return self.methods[1:]

    def score(self, name: Score) -> Mapping[str, PerHead]:
        """Gating's score of every head: mean, lowest and highest seed."""
        return self.facilitation if name == "facilitation" else self.interference


QUANTITIES: Mapping[str, Quantity] = {
    "heads_in_dispute": Quantity("Heads in dispute", "count"),
    "most_disputed_head": Quantity("Most disputed head", "head"),
    "explained_by": Quantity("Explained by"),
    **{
        f"rank_correlation_{name}": Quantity(f"Rank correlation with {BY_NAME[name].title.lower()}")
        for name in _CORRELATED
    },
}


def headline(result: AgreementResult, threshold: float = 0.5) -> dict[str, Any]:
    """How many heads are in dispute, the first of them, what explains it, and how well methods agree."""
    numbers: dict[str, Any] = {"heads_in_dispute": result.n_disputed}
    if result.disagreements:
        first = result.disagreements[0]
        numbers["most_disputed_head"] = first["head"]
        numbers["explained_by"] = ", ".join(each["kind"].replace("-", " ") for each in first["why"])
    for name in _CORRELATED:
        if name in result.others:
            row = result.statistics[result.others.index(name)]
            numbers[f"rank_correlation_{name}"] = float(row[NUMBERS.index("rho_facilitation")])
    return numbers
