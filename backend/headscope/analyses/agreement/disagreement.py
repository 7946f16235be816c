"""On which heads the methods disagree, the ones first on which they do most.

A head is in dispute where one method surely finds it and another surely doesn't, each beyond its own error
(``verdicts``). How much it is:

    strength = largest standing among those that find it - smallest standing among those that don't

with a method's standing of a head its effect over the largest effect of that method, between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float

from headscope.analyses.agreement.methods import Seen
from headscope.analyses.agreement.verdicts import Verdict, unknown

Head = tuple[int, int]


def standing(seen: Seen) -> Float[np.ndarray, "layer head"]:
    """Effects over the largest, between 0 and 1; NaN where there is none."""
    known = seen.effect[np.isfinite(seen.effect)]
    largest = float(known.max()) if len(known) else 0.0
    if largest <= 0:
        return np.where(np.isfinite(seen.effect), 0.0, np.nan)
    return np.clip(seen.effect / largest, 0, 1)


def disputed(seen: Mapping[str, Seen]) -> list[tuple[Head, float]]:
    """Heads in dispute with their strength, the most disputed first; equal ones by layer and head."""
    names = list(seen)
    standings = np.stack([standing(seen[name]) for name in names])
    sure = np.stack([_sure(seen[name]) for name in names])
    some, none = (sure > 0).any(axis=0), (sure < 0).any(axis=0)
    high = np.where(sure > 0, standings, -np.inf).max(axis=0)
    low = np.where(sure < 0, standings, np.inf).min(axis=0)
    strength = np.where(some & none, high - np.where(none, low, 0), -np.inf)
    order = np.argsort(-strength.reshape(-1), kind="stable")
    heads = strength.shape[1]
    return [
        (divmod(int(index), heads), float(strength.reshape(-1)[index]))
        for index in order
        if np.isfinite(strength.reshape(-1)[index])
    ]


def sides(seen: Mapping[str, Seen], head: Head) -> tuple[list[str], list[str]]:
    """The methods that surely find a head, and those that surely don't."""
    said = {name: int(_sure(seen[name])[head]) for name in seen}
    return [name for name in said if said[name] > 0], [name for name in said if said[name] < 0]


def _sure(seen: Seen) -> Verdict:
    return unknown(seen.effect.shape) if seen.sure is None else seen.sure
