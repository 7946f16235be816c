"""Intervals at 95 % of a share and of a mean."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

LEVEL = 0.95
RESAMPLES = 4000

Interval = tuple[float, float]
"""Lower and upper end; NaN where there is nothing to tell them from."""


def clopper_pearson(share: float, n: int) -> Interval:
    """The exact interval of a share seen in n trials, in [0, 1] [Clopper and Pearson 1934].

    The ends are quantiles of beta distributions, which also take a number of successes that isn't whole: that
    of answers judged token by token.
    """
    from scipy.special import betaincinv

    if not n or not np.isfinite(share):
        return float("nan"), float("nan")
    tail, right = (1 - LEVEL) / 2, share * n
    low = betaincinv(right, n - right + 1, tail) if right > 0 else 0.0
    high = betaincinv(right + 1, n - right, 1 - tail) if right < n else 1.0
    return float(low), float(high)


def mean_interval(values: Float[np.ndarray, " value"]) -> Interval:
    """Student's interval of the mean of independent values; NaN below two of them."""
    from scipy.special import stdtrit

    n = len(values)
    if n < 2:
        return float("nan"), float("nan")
    mean, error = float(values.mean()), float(values.std(ddof=1)) / n**0.5
    reach = float(stdtrit(n - 1, 1 - (1 - LEVEL) / 2)) * error
    return mean - reach, mean + reach


def bootstrap_interval(
    values: Float[np.ndarray, "row value"], seed: int = 0, resamples: int = RESAMPLES
) -> tuple[Float[np.ndarray, " row"], Float[np.ndarray, " row"]]:
    """The percentile bootstrap of each row's mean: lower and upper ends [Efron 1979]. Rows share their
    resamples; the same ``seed`` gives the same ends.
    """
    n = values.shape[1]
    drawn = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), resamples)
    low, high = np.quantile(values @ drawn.T / n, ((1 - LEVEL) / 2, (1 + LEVEL) / 2), axis=1)
    return low, high
