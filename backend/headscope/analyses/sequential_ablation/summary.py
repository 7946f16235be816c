"""What the curves of sequential ablation come to: mean changes, ranks among random orders, caveats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from headscope.analyses.base import Arrays
from headscope.core.gating.roles import SCORE_NAMES

THRESHOLD = 0.5
_FEW_EXAMPLES = 64


def area(
    k: np.ndarray, delta: Float[np.ndarray, "*orders count"], until: float | None = None
) -> Float[np.ndarray, "*orders"]:
    """The mean of delta over the number of heads from 0 to ``until`` (K where unset), nats: the trapezoids'
    area over it. 0 where ``until`` is.
    """
    end = float(k[-1] if until is None else until)
    if end <= 0:
        return np.zeros(delta.shape[:-1])
    cut = np.unique([*k[k < end], end])
    heights = np.apply_along_axis(lambda curve: np.interp(cut, k, curve), -1, delta)
    return np.asarray(((heights[..., 1:] + heights[..., :-1]) / 2 * np.diff(cut)).sum(axis=-1) / end)


def with_role(score: Float[np.ndarray, "seed rank"], threshold: float) -> float:
    """How many of the heads taken reach the threshold, the mean over seeds."""
    return float((score >= threshold).sum(axis=1).mean())


def values(arrays: Arrays, n_test: int, failed: Sequence[int]) -> dict[str, Any]:
    """In nats, means over seeds: ``area`` and ``end`` (delta at K) by order.

    ``while_role`` says of each score how many heads reach 0.5, the area up to there of its own order and of
    the random ones, and how many of these its own is ``below``, ``above``, and ``nearer`` to 0 than.
    """
    k = arrays["k"].astype(float)
    by_score = dict(zip(SCORE_NAMES, arrays["delta"].astype(float).mean(axis=1), strict=True))
    by_chance = arrays["random_delta"].astype(float)
    shown = {**by_score, "random": by_chance.mean(axis=0)}
    return {
        "area": {name: float(area(k, curve)) for name, curve in shown.items()},
        "end": {name: float(curve[-1]) for name, curve in shown.items()},
        "while_role": {
            name: _while_role(k, curve, by_chance, with_role(arrays["score"][index], THRESHOLD))
            for index, (name, curve) in enumerate(by_score.items())
        },
        "orders": len(by_chance),
        "n_test": n_test,
        "failed_seeds": list(failed),
        "notes": _notes(arrays["delta"].shape[1], n_test, failed),
    }


def _while_role(k: np.ndarray, curve: np.ndarray, by_chance: np.ndarray, heads: float) -> dict[str, Any]:
    mine, theirs = float(area(k, curve, heads)), area(k, by_chance, heads)
    return {
        "heads": heads,
        "area": mine,
        "random_area": float(theirs.mean()),
        "below": int((theirs > mine).sum()),
        "above": int((theirs < mine).sum()),
        "nearer": int((np.abs(theirs) > abs(mine)).sum()),
    }


def _notes(seeds: int, n_test: int, failed: Sequence[int]) -> list[str]:
    notes = []
    if seeds == 1:
        notes.append(
            "One seed: there is no band over seeds, and nothing tells how far another fit would differ."
        )
    if failed:
        some = ", ".join(map(str, failed))
        notes.append(
            f"Seed {some} of the gating run has no fit and is left out."
            if len(failed) == 1
            else f"Seeds {some} of the gating run have no fit and are left out."
        )
    if n_test < _FEW_EXAMPLES:
        notes.append(f"{n_test} held-out examples: small differences between curves say little.")
    return notes
