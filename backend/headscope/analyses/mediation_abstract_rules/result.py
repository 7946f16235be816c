"""What the mediation of abstract rules finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, UInt8

from headscope.analyses.base import Quantity, Result
from headscope.analyses.mediation_abstract_rules.schema import KINDS, SWAPPED
from headscope.analyses.patch_effects import strongest
from headscope.analyses.result import by_name
from headscope.tasks.rule_pairs import Swapped

NAMES = tuple(kind.name for kind in KINDS)

ByHead = Float[np.ndarray, "layer head"]


@dataclass(frozen=True, kw_only=True, eq=False)
class AbstractRulesResult(Result):
    """Scores in logits and p-values, each by the kind of head; pairs, tried and kept, by what is swapped.

    ``score`` is the mean of ``scores`` over pairs and ``error`` that mean's standard error; ``p_max`` is
    corrected by the largest score, ``p_holm`` after Holm; ``significant`` is ones and zeros by the correction
    asked for. ``base_aba`` is one where a pair's base context has the rule ABA.
    """

    NAME: ClassVar[str] = "mediation-abstract-rules"
    VERSION: ClassVar[int] = 1

    scores: Mapping[str, Float[np.ndarray, "pair layer head"]] = by_name("{}_scores", NAMES)
    score: Mapping[str, ByHead] = by_name("{}", NAMES)
    error: Mapping[str, ByHead] = by_name("{}_error", NAMES)
    p: Mapping[str, ByHead] = by_name("{}_p", NAMES)
    p_max: Mapping[str, ByHead] = by_name("{}_p_max", NAMES)
    p_holm: Mapping[str, ByHead] = by_name("{}_p_holm", NAMES)
    significant: Mapping[str, UInt8[np.ndarray, "layer head"]] = by_name("{}_significant", NAMES)
    base_aba: Mapping[str, UInt8[np.ndarray, " pair"]] = by_name("{}_base_aba", SWAPPED)
    tried: Mapping[Swapped, int]
    kept: Mapping[Swapped, int]
    notes: Sequence[str]


QUANTITIES: Mapping[str, Quantity] = {
    **{
        name: quantity
        for kind in KINDS
        for name, quantity in (
            (f"strongest_for_{kind.key}", Quantity(f"Strongest for {kind.words}", "head")),
            (f"{kind.key}_heads", Quantity(f"{kind.words.capitalize()} heads", "count")),
        )
    },
    "pairs_kept": Quantity("Pairs right on both contexts", "count"),
    "share_kept": Quantity("Share of pairs kept", "share"),
}


def headline(result: AbstractRulesResult, threshold: float = 0.5) -> dict[str, Any]:
    """The strongest head of each kind, how many count, and the share of pairs kept."""
    found: dict[str, Any] = {}
    for kind in KINDS:
        ((layer, head),) = strongest(result.score[kind.name], 1)
        # The strongest, whether or not it counts as one of its kind.
        found[f"strongest_for_{kind.key}"] = f"{layer}.{head}"
        found[f"{kind.key}_heads"] = int(result.significant[kind.name].sum())
    kept, tried = sum(result.kept.values()), sum(result.tried.values())
    return found | {"pairs_kept": kept, "share_kept": kept / tried}
