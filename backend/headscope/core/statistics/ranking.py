"""How well a score tells some heads from all others, and how sure the mean of such figures is.

AUROC is the probability that a head of the kind looked for scores higher than one that isn't, ties counting
half: the Mann-Whitney statistic over the number of such pairs [Hanley and McNeil 1982]. 1/2 is chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from jaxtyping import Bool, Float
from scipy.stats import rankdata

RESAMPLES: Final = 2000
_TAIL: Final = 0.025


@dataclass(frozen=True)
class Interval:
    """A mean over independent draws with its 95 % interval; all NaN without any draw."""

    mean: float
    low: float
    high: float
    n: int


def auroc(score: Float[np.ndarray, "*heads"], positive: Bool[np.ndarray, "*heads"]) -> float:
    """In [0, 1]; NaN where all heads or none are positive, or a score is NaN."""
    is_one, values = np.asarray(positive, bool).ravel(), np.asarray(score, float).ravel()
    n_positive, n_other = int(is_one.sum()), int((~is_one).sum())
    if not n_positive or not n_other or np.isnan(values).any():
        return float("nan")
    ranks = rankdata(values)
    above = ranks[is_one].sum() - n_positive * (n_positive + 1) / 2
    return float(above / (n_positive * n_other))


def mean_over_draws(values: Any, seed: int = 0) -> Interval:
    """The mean of shares in [0, 1] over draws, and a 95 % interval; NaN values are left out.

    The interval is the percentile bootstrap over draws. It has no width where all draws are alike; with n
    draws that are all 1 (or all 0) it is carried on to where the share of other draws could still be unseen:
    1 - 0.025^(1/n) from the end, the exact binomial bound.
    """
    known = np.asarray(values, float)
    known = known[np.isfinite(known)]
    n = len(known)
    if not n:
        return Interval(float("nan"), float("nan"), float("nan"), 0)
    drawn = np.random.default_rng(seed).integers(0, n, (RESAMPLES, n))
    low, high = np.quantile(known[drawn].mean(axis=1), (_TAIL, 1 - _TAIL))
    unseen = 1 - _TAIL ** (1 / n)
    if (known == 1).all():
        low = 1 - unseen
    if (known == 0).all():
        high = unseen
    return Interval(float(known.mean()), float(low), float(high), n)
