"""Which heads stand out: the 3-SD rule, and permutation by sign flips. numpy only.

Sign flips: if a head carried nothing, its score would be as often above 0 as below, so that any signs over
the pairs would be as likely as those seen. One-sided, since a mediator's score is positive:

    p       = share of sign patterns whose mean is at least the one seen
    p_max   = share of them whose largest mean over all heads is at least the one seen [Westfall, Young 1993]
    p_holm  = p stepped down over the heads [Holm 1979]

All heads get the same signs, so that p_max knows how they go together. Where there are fewer patterns than
draws, all are taken and p is exact; else (hits + 1) / (draws + 1) [Phipson, Smyth 2010].
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from jaxtyping import Bool, Float

_BLOCK = 512
_ROUNDING = 1e-9
"""Relative: a pattern that gives the mean seen counts as reaching it, in whatever order it is summed."""


@dataclass(frozen=True)
class PValues:
    """By head: for itself, corrected by the largest mean, corrected after Holm. ``exact`` where all sign
    patterns were taken; ``least`` is the smallest p that so many patterns can give.
    """

    single: Float[np.ndarray, " head"]
    max: Float[np.ndarray, " head"]
    holm: Float[np.ndarray, " head"]
    exact: bool
    least: float


def outstanding(effects: Float[np.ndarray, "*axes head"], sds: float) -> Bool[np.ndarray, "*axes head"]:
    """Heads more than ``sds`` standard deviations above the mean over heads (the last axis).

    The standard deviation is of the heads as they are (divided by their number, not one less).
    """
    return np.asarray(effects > limit(effects, sds)[..., None])


def limit(effects: Float[np.ndarray, "*axes head"], sds: float) -> Float[np.ndarray, "*axes"]:
    """What an effect must exceed: mean + ``sds`` x standard deviation over heads."""
    wide = np.asarray(effects, np.float64)
    return np.asarray(wide.mean(-1) + sds * wide.std(-1))


def sign_flips(scores: Float[np.ndarray, "pair head"], draws: int, seed: int) -> PValues:
    """p-values of the mean score over pairs; see the module."""
    wide = np.asarray(scores, np.float64)
    n, heads = wide.shape
    exact = n < 63 and 2**n <= draws
    seen = wide.mean(0)
    reach = seen - _ROUNDING * np.abs(wide).mean(0)
    hits, hits_max, taken = np.zeros(heads), np.zeros(heads), 0
    for signs in _all_signs(n) if exact else _drawn_signs(n, draws, seed):
        means = signs @ wide / n
        hits += (means >= reach).sum(0)
        hits_max += (means.max(1)[:, None] >= reach).sum(0)
        taken += len(signs)
    more = 0 if exact else 1
    single = (hits + more) / (taken + more)
    return PValues(single, (hits_max + more) / (taken + more), holm(single), exact, 1 / (taken + more))


def holm(p: Float[np.ndarray, " head"]) -> Float[np.ndarray, " head"]:
    """The smallest p times the number of heads, the next times one less, ...; never falling, at most 1."""
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(stepped, 1)
    return corrected


def _all_signs(n: int) -> list[np.ndarray]:
    return [np.array(list(product((1.0, -1.0), repeat=n)))]


def _drawn_signs(n: int, draws: int, seed: int) -> list[np.ndarray]:
    source = np.random.default_rng(seed)
    sizes = [min(_BLOCK, draws - start) for start in range(0, draws, _BLOCK)]
    return [source.choice((1.0, -1.0), (size, n)) for size in sizes]


def benjamini_hochberg(p: Float[np.ndarray, "*heads"]) -> Float[np.ndarray, "*heads"]:
    """q of each p: the smallest over the p at or above it of p x number / rank; at most 1."""
    flat = np.asarray(p, float).reshape(-1)
    order = np.argsort(flat)
    scaled = flat[order] * len(flat) / np.arange(1, len(flat) + 1)
    q = np.empty_like(flat)
    q[order] = np.minimum(1, np.minimum.accumulate(scaled[::-1])[::-1])
    return q.reshape(np.shape(p))
