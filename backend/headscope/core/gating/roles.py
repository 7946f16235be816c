"""What a head is for, read off its two gates [Causal Head Gating, arXiv 2505.13737, section 3].

1. Scores in [0, 1], per seed and head: facilitation = G-, interference = 1 - G+, irrelevance = G+ (1 - G-).
2. A head has a role where the score reaches the threshold; the threshold is a view, never a refit.
3. Over seeds: Always = in every seed, Any = in at least one, and the fraction of seeds; from this fraction,
   whether another seed would give the role again (``core.statistics.replication``).

Axes: seed, layer, head. A seed whose fit failed has NaN gates: it has no role and counts in no share.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, UInt8
from numpy.typing import NDArray

from headscope.errors import Invalid

Array = NDArray[Any]

UNDECIDED, NEEDED, HARMFUL, BOTH, IRRELEVANT = range(5)
"""Role codes: undecided, needed (facilitating), harmful (interfering), both (ambivalent), doesn't matter."""

ROLE_NAMES = ("undecided", "needed", "harmful", "both", "irrelevant")
SCORE_NAMES = ("facilitation", "interference", "irrelevance")
CONDITIONS = ("ungated", "zero", "plus", "minus")
"""Rows of the held-out arrays: the model as it is, under G0, under G+, under G-."""


@dataclass(frozen=True)
class Shares:
    """How widely one score holds. ``always``, ``any`` and ``mean`` are shares of all heads; ``per_head`` is
    the fraction of seeds [layer, head], ``per_seed`` the share of heads [seed] (NaN where a fit failed).
    """

    always: float
    any: float
    mean: float
    per_head: Array
    per_seed: Array


@dataclass(frozen=True)
class Ecdf:
    """Share of heads at or above each threshold: pooled, lowest seed, highest seed. All [threshold]."""

    thresholds: Array
    pooled: Array
    low: Array
    high: Array


def scores(
    g_plus: Float[np.ndarray, "seed layer head"], g_minus: Float[np.ndarray, "seed layer head"]
) -> dict[str, Float[np.ndarray, "seed layer head"]]:
    """Facilitation, interference and irrelevance in [0, 1]; NaN where a fit failed."""
    return {"facilitation": g_minus, "interference": 1 - g_plus, "irrelevance": g_plus * (1 - g_minus)}


def roles(
    g_plus: Float[np.ndarray, "seed layer head"],
    g_minus: Float[np.ndarray, "seed layer head"],
    threshold: float | int = 0.5,
    costly: Bool[np.ndarray, "layer head"] | None = None,
) -> UInt8[np.ndarray, "seed layer head"]:
    """One role code per seed and head. "Doesn't matter" counts only where neither needed nor harmful does,
    and not of heads that are ``costly`` to close by themselves: those are undecided.
    """
    needed, harmful, irrelevant = (score >= _valid(threshold) for score in scores(g_plus, g_minus).values())
    if costly is not None:
        irrelevant = irrelevant & ~costly
    codes = np.select(
        [needed & harmful, needed, harmful, irrelevant],
        [BOTH, NEEDED, HARMFUL, IRRELEVANT],
        default=UNDECIDED,
    )
    return codes.astype(np.uint8)


def held(codes: UInt8[np.ndarray, "seed layer head"]) -> dict[str, Bool[np.ndarray, "seed layer head"]]:
    """By role: which heads have it; needed and harmful don't exclude one another."""
    return {
        "needed": np.isin(codes, (NEEDED, BOTH)),
        "harmful": np.isin(codes, (HARMFUL, BOTH)),
        "irrelevant": codes == IRRELEVANT,
    }


def shares(
    g_plus: Float[np.ndarray, "seed layer head"],
    g_minus: Float[np.ndarray, "seed layer head"],
    threshold: float | int = 0.5,
) -> dict[str, Shares]:
    """Always, Any and fractions of each score, by score name. The scores don't exclude one another."""
    ran = finished(g_plus, g_minus)
    return {name: _shares(score >= _valid(threshold), ran) for name, score in scores(g_plus, g_minus).items()}


def finished(
    g_plus: Float[np.ndarray, "seed layer head"], g_minus: Float[np.ndarray, "seed layer head"]
) -> Bool[np.ndarray, " seed"]:
    """Which seeds have a fit: all their gates are numbers."""
    return np.asarray(np.isfinite(g_plus).all(axis=(1, 2)) & np.isfinite(g_minus).all(axis=(1, 2)))


def ecdf(score: Float[np.ndarray, "seed layer head"], thresholds: Array | None = None) -> Ecdf:
    """Complementary distribution of a score: the share of heads at or above each of 101 (or the given)
    thresholds.
    """
    steps = np.linspace(0, 1, 101) if thresholds is None else np.asarray(thresholds, dtype=float)
    flat = score.reshape(len(score), -1)
    flat = flat[np.isfinite(flat).all(axis=1)]
    if not len(flat):
        nothing = np.full(len(steps), np.nan)
        return Ecdf(steps, nothing, nothing, nothing)
    per_seed = np.stack([_share_at_or_above(row, steps) for row in flat])
    return Ecdf(steps, per_seed.mean(axis=0), per_seed.min(axis=0), per_seed.max(axis=0))


def quantile_correlation(first: Array, second: Array) -> float:
    """Likeness of two models, whose heads do not match: Pearson's r of their quantile functions at 101
    points.

    NaN where one of them is constant or empty.
    """
    points = np.linspace(0, 1, 101)
    pooled = [values[np.isfinite(values)] for values in (np.asarray(first), np.asarray(second))]
    if any(not len(values) or np.ptp(values) == 0 for values in pooled):
        return float("nan")
    return float(np.corrcoef(*(np.quantile(values, points) for values in pooled))[0, 1])


def headline(
    g_plus: Float[np.ndarray, "seed layer head"],
    g_minus: Float[np.ndarray, "seed layer head"],
    accuracy: Float[np.ndarray, "condition seed"],
    log_probability: Float[np.ndarray, "condition seed"],
    threshold: float | int = 0.5,
) -> dict[str, float | None]:
    """The few numbers that lists show: shares of heads, held-out means over the seeds that finished (or
    None). Rows of the held-out scores are ``CONDITIONS``.
    """
    by_score = shares(g_plus, g_minus, threshold)
    numbers = {
        "always_needed": by_score["facilitation"].always,
        "any_needed": by_score["facilitation"].any,
        "always_harmful": by_score["interference"].always,
        "any_harmful": by_score["interference"].any,
    }
    for label, values in (("accuracy", accuracy), ("logp", log_probability)):
        for condition in ("ungated", "plus", "minus"):
            numbers[f"{label}_{condition}"] = _mean(values[CONDITIONS.index(condition)])
    return {name: number if np.isfinite(number) else None for name, number in numbers.items()}


def _shares(has: Array, ran: Array) -> Shares:
    per_seed = np.where(ran, has.mean(axis=(1, 2)), np.nan)
    if not ran.any():
        return Shares(float("nan"), float("nan"), float("nan"), np.full(has.shape[1:], np.nan), per_seed)
    kept = has[ran]
    return Shares(
        always=float(kept.all(axis=0).mean()),
        any=float(kept.any(axis=0).mean()),
        mean=float(kept.mean()),
        per_head=kept.mean(axis=0),
        per_seed=per_seed,
    )


def _share_at_or_above(values: Array, thresholds: Array) -> Array:
    below = np.searchsorted(np.sort(values), thresholds, side="left")
    return np.asarray(1 - below / len(values))


def _mean(values: Array) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _valid(threshold: float | int) -> float:
    if not 0 < threshold <= 1:
        raise Invalid(
            f"A threshold of {threshold} tells no heads apart.", "Use a threshold above 0 and up to 1."
        )
    return threshold
