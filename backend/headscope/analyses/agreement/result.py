"""What agreement finds: what every method says of every head, how far they agree, and why they don't."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, Literal

import numpy as np
from jaxtyping import Float, Integer, UInt8, UInt16

from headscope.analyses.agreement.methods import BY_NAME, NAMES, Seen, of_arrays
from headscope.analyses.agreement.order import Order
from headscope.analyses.agreement.sentence import chief, verdict
from headscope.analyses.agreement.statistics import NUMBERS as _STATISTICS
from headscope.analyses.agreement.verdicts import Verdict
from headscope.analyses.base import Quantity, Result
from headscope.analyses.result import by_name
from headscope.core.gating.ablation import ABLATIONS

PerHead = Float[np.ndarray, "layer head"]

Score = Literal["facilitation", "interference"]
OVER_SEEDS: Final = ("mean", "low", "high")
_CORRELATED: Final = ("left_out", "mediation", "direct")


@dataclass(frozen=True, kw_only=True, eq=False)
class AgreementResult(Result):
    """By method: its effects, the heads that it finds, standard errors where they are known, and what is
    ``sure`` beyond them (``verdicts``).

    ``statistics`` has a row for each of ``methods`` but gating and the columns ``statistics.NUMBERS``, so has
    ``order`` with ``order.NUMBERS``;
    ``correlations`` is of gating, interference and the others. ``heads`` are those in dispute as (layer,
    head), the most disputed first; ``disagreements`` says of the first of them what ``report`` does.
    ``needed_by`` and ``harmful_by`` are shares of seeds by ablation, where runs with another than the gating
    run's ``ablation`` were named; ``survival`` counts what ``ablations.survival`` does. Version 1 had neither
    ``sure`` nor ``order``, and any difference was a dispute.
    """

    NAME: ClassVar[str] = "agreement"
    VERSION: ClassVar[int] = 2

    effects: Mapping[str, PerHead] = by_name("{}", NAMES)
    found: Mapping[str, UInt8[np.ndarray, "layer head"]] = by_name("{}_found", NAMES)
    errors: Mapping[str, PerHead] = by_name("{}_error", NAMES)
    sure: Mapping[str, Verdict] = by_name("{}_sure", NAMES)
    facilitation: Mapping[str, PerHead] = by_name("facilitation_{}", OVER_SEEDS)
    interference: Mapping[str, PerHead] = by_name("interference_{}", OVER_SEEDS)
    needed_by: Mapping[str, PerHead] = by_name("needed_by_{}", tuple(ABLATIONS))
    harmful_by: Mapping[str, PerHead] = by_name("harmful_by_{}", tuple(ABLATIONS))
    counts: Mapping[str, Integer[np.ndarray, " 1"]] = by_name("{}", ("n_seeds",))
    seeds_needing: PerHead
    statistics: Float[np.ndarray, "method number"]
    correlations: Float[np.ndarray, "measure measure"]
    order: Float[np.ndarray, "method order_number"] | None = None
    heads: UInt16[np.ndarray, "disputed 2"]
    strength: Float[np.ndarray, " disputed"]
    methods: Sequence[str]
    disagreements: Sequence[Mapping[str, Any]]
    n_disputed: int
    n_seeds: int
    notes: Sequence[str]
    ablation: str = "zero"
    survival: Sequence[Mapping[str, Any]] = ()

    @cached_property
    def seen(self) -> dict[str, Seen]:
        """What each method says, gating first."""
        return of_arrays(self.arrays)

    @property
    def others(self) -> Sequence[str]:
        """All methods but gating."""
        return self.methods[1:]

    @cached_property
    def orders(self) -> dict[str, Order]:
        """How alike gating and each other method order the heads; empty in results of version 1."""
        rows = [] if self.order is None else self.order.tolist()
        return {name: Order(*row) for name, row in zip(self.others, rows, strict=False)}

    def score(self, name: Score) -> Mapping[str, PerHead]:
        """Gating's score of every head: mean, lowest and highest seed."""
        return self.facilitation if name == "facilitation" else self.interference


QUANTITIES: Mapping[str, Quantity] = {
    "agreement": Quantity("Agreement"),
    "interval": Quantity("Its 95 % interval"),
    "detectable": Quantity("Correlation it would see"),
    "heads_in_dispute": Quantity("Heads in dispute", "count"),
    "heads_explained": Quantity("Of them explained", "count"),
    "most_disputed_head": Quantity("Most disputed head", "head"),
    "explained_by": Quantity("Explained by"),
    **{
        f"rank_correlation_{name}": Quantity(f"Rank correlation with {BY_NAME[name].title.lower()}")
        for name in NAMES[1:]
    },
}


def headline(result: AgreementResult, threshold: float = 0.5) -> dict[str, Any]:
    """Whether gating agrees with the paper's measure, or the first there is; then the heads in dispute."""
    first = chief(result.orders)
    numbers = {} if first is None else _agreement(first, result.orders[first])
    numbers["heads_in_dispute"] = result.n_disputed
    if result.disagreements:
        top = result.disagreements[0]
        kinds = [[each["kind"] for each in told["why"]] for told in result.disagreements]
        numbers["heads_explained"] = sum(any(kind != "unknown" for kind in each) for each in kinds)
        numbers["most_disputed_head"] = top["head"]
        numbers["explained_by"] = ", ".join(kind.replace("-", " ") for kind in kinds[0])
    for name in _CORRELATED:
        if name in result.others:
            row = result.statistics[result.others.index(name)]
            numbers[f"rank_correlation_{name}"] = float(row[_STATISTICS.index("rho_facilitation")])
    return numbers


def _agreement(name: str, found: Order) -> dict[str, Any]:
    return {
        "agreement": verdict(name, found),
        f"rank_correlation_{name}": found.rho,
        "interval": f"{found.low:.2f} to {found.high:.2f}".replace("-", "−"),
        "detectable": found.detectable,
    }
