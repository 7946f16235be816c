"""Planted roles against fitted ones: precision and recall [arXiv 2505.13737 for the roles].

Strictly, over all seeds of a model: a head is found needed, harmful or useless where its score is at 0.5 or
more in *every* seed (facilitation, interference, irrelevance), and redundant where facilitation is in some
seeds and not in all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from headscope.core.gating.roles import finished, shares
from headscope.validation.planted import ROLES, Head, Role

_SCORE: Mapping[Role, str] = {
    "needed": "facilitation",
    "harmful": "interference",
    "useless": "irrelevance",
    "redundant": "facilitation",
}

Heads = Mapping[Role, tuple[Head, ...]]


@dataclass(frozen=True)
class Match:
    """How well a role was found: heads planted, found, and both."""

    planted: int
    found: int
    both: int

    @property
    def precision(self) -> float:
        """Of the heads found, the share that was planted; NaN where none was found."""
        return self.both / self.found if self.found else float("nan")

    @property
    def recall(self) -> float:
        """Of the heads planted, the share that was found; NaN where none was planted."""
        return self.both / self.planted if self.planted else float("nan")


def found_roles(
    g_plus: Float[np.ndarray, "seed layer head"], g_minus: Float[np.ndarray, "seed layer head"]
) -> dict[Role, tuple[Head, ...]]:
    """The heads that each role is found for; none where a fit failed or there is none."""
    if not len(g_plus) or not finished(g_plus, g_minus).all():
        return dict.fromkeys(ROLES, ())
    share = {name: of.per_head for name, of in shares(g_plus, g_minus).items()}
    found: dict[Role, tuple[Head, ...]] = {}
    for role in ROLES:
        per_head = share[_SCORE[role]]
        has = (per_head > 0) & (per_head < 1) if role == "redundant" else per_head == 1
        found[role] = tuple((int(layer), int(head)) for layer, head in np.argwhere(has))
    return found


def matches(planted: Heads, found: Heads) -> dict[Role, Match]:
    """Counts per role."""
    return {
        role: Match(len(planted[role]), len(found[role]), len(set(planted[role]) & set(found[role])))
        for role in ROLES
    }


def together(each: Iterable[Mapping[Role, Match]]) -> dict[Role, Match]:
    """Counts over models."""
    rows = list(each)
    return {
        role: Match(
            sum(row[role].planted for row in rows),
            sum(row[role].found for row in rows),
            sum(row[role].both for row in rows),
        )
        for role in ROLES
    }
