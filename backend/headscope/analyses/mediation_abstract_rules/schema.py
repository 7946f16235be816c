"""Parameters of mediation of abstract rules, and the three kinds of heads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from pydantic import Field

from headscope.analyses.base import Params
from headscope.analyses.parameters import Precision
from headscope.tasks.rule_pairs import Swapped
from headscope.tasks.text import MAX_SHOTS


@dataclass(frozen=True)
class Kind:
    """What a kind of head is looked for with: which pairs, and at which positions z is put."""

    name: str
    words: str
    swapped: Swapped
    place: Literal["third", "last"]

    @property
    def key(self) -> str:
        """Its words as a name among headline numbers."""
        return self.words.replace(" ", "_")


KINDS: Final = (
    Kind("abstraction", "symbol abstraction", "rule", "third"),
    Kind("induction", "symbolic induction", "rule", "last"),
    Kind("retrieval", "retrieval", "items", "last"),
)

SWAPPED: Final[tuple[Swapped, ...]] = ("rule", "items")


def kinds_of(swapped: Swapped) -> tuple[Kind, ...]:
    """Those that pairs swapped this way tell of."""
    return tuple(kind for kind in KINDS if kind.swapped == swapped)


class AbstractRuleParams(Params):
    """How many pairs of contexts, how many examples in each, and the test of their scores."""

    shots: int = Field(
        default=10,
        ge=1,
        le=MAX_SHOTS,
        title="In-context examples",
        description="Lines A^B^A before the question. With few, small models guess.",
    )
    pairs: int = Field(
        default=20,
        ge=2,
        le=10_000,
        title="Pairs, at most",
        description="Pairs of contexts that are patched, for each of the two ways to swap.",
    )
    candidates: int = Field(
        default=100,
        ge=2,
        le=100_000,
        title="Pairs to try, at most",
        description="Only pairs whose two contexts the model both answers right are kept.",
    )
    least: int = Field(
        default=8,
        ge=2,
        le=10_000,
        title="Pairs, at least",
        description="The run is refused where fewer are kept.",
    )
    draws: int = Field(
        default=5000,
        ge=100,
        le=100_000,
        title="Permutations",
        description="Draws of signs over the pairs; all of them where there are fewer.",
    )
    correction: Literal["max", "holm", "none"] = Field(
        default="max",
        title="Correction for the number of heads",
        description="By the largest score of all heads in each draw, after Holm, or none.",
    )
    alpha: float = Field(
        default=0.05,
        gt=0,
        le=0.5,
        allow_inf_nan=False,
        title="Level",
        description="A head counts where its p-value lies below.",
    )
    seed: int = Field(
        default=0,
        ge=0,
        le=2**31 - 1,
        title="Seed",
        description="Of the items and of the permutations.",
    )
    dtype: Precision = "float32"


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "quick": {"pairs": 8, "candidates": 60, "least": 5},
    "paper": {"shots": 2, "pairs": 100, "candidates": 1000, "least": 20, "correction": "none"},
}
"""``paper`` has two in-context examples and a hundred pairs, as Yang et al. 2025; small models fail it."""


def seeds(params: AbstractRuleParams) -> Sequence[int]:
    """The one seed of all that is drawn."""
    return (params.seed,)
