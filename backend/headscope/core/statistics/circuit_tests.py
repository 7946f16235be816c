"""Tests of a circuit as a hypothesis [Shi et al. 2024, arXiv 2410.13032]. numpy and scipy only.

A circuit C is a set of heads; scores are a task's metric, higher is better, by example or as means.

1. **Equivalence**: over examples, is the circuit as often above the model as below? A sign test; ties count
   half to either side in the share, and not at all in p.
2. **Independence**: do the complement's scores know anything of the model's? HSIC with Gaussian kernels
   whose widths are median distances [Gretton et al. 2005], against permutations of the examples.
3. **Minimality**: does C lose more by knocking out one of its heads than a circuit inflated by a head from
   outside loses by that head's removal?
4. **Sufficiency** and **partial necessity**: where does C, or the model without C, stand among random
   circuits of the same size?

Ranks among n random ones give p = (1 + those at least as extreme) / (1 + n) [Phipson, Smyth 2010], so that p
is valid whatever n, and never below 1 / (1 + n). **Choice**: the loss in 3 is signed, where the source takes
its size: a head whose removal helps isn't needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from jaxtyping import Float

ALPHA: Final = 0.05
"""From this p on down a null hypothesis is rejected."""

MARGIN: Final = 0.1
"""A share within 0.5 ± this is as good as a fair coin's, as in the source."""

MOST_ROWS: Final = 512
"""HSIC compares all pairs of examples: the first so many are taken."""

_TIE = 1e-6
"""Scores that differ by less, relative to their size, differ by rounding."""

Tail = Literal["high", "low"]
Scores = Float[np.ndarray, " example"]


@dataclass(frozen=True)
class SignTest:
    """Over examples: the share in which the first is above the second, its 90 % interval (Clopper-Pearson),
    and the two-sided p of a fair coin. ``differing`` examples are no ties.
    """

    share: float
    low: float
    high: float
    p: float
    differing: int

    @property
    def equivalent(self) -> bool:
        """Whether both one-sided tests at 5 % put the share within ``MARGIN`` of a half."""
        return bool(self.low >= 0.5 - MARGIN and self.high <= 0.5 + MARGIN)


@dataclass(frozen=True)
class Dependence:
    """The Hilbert-Schmidt independence criterion of two scores and the p of its permutation test."""

    hsic: float
    p: float


def equivalence(circuit: Scores, model: Scores) -> SignTest:
    """Is either of the two above the other more often than a fair coin would have it?"""
    from scipy.stats import beta, binomtest

    difference = np.asarray(circuit, np.float64) - model
    slack = _TIE * np.maximum(1, np.abs(model))
    above, below = int((difference > slack).sum()), int((difference < -slack).sum())
    n, ties = len(difference), len(difference) - above - below
    over, under = above + ties / 2, below + ties / 2
    low = float(beta.ppf(ALPHA, over, under + 1)) if over else 0.0
    high = float(beta.ppf(1 - ALPHA, over + 1, under)) if under else 1.0
    p = float(binomtest(above, above + below).pvalue) if above + below else 1.0
    return SignTest(over / n, low, high, p, above + below)


def independence(complement: Scores, model: Scores, draws: int, seed: int) -> Dependence:
    """Is what the complement scores related to what the model scores, in any way?"""
    first, second = (_centred(_kernel(scores[:MOST_ROWS])) for scores in (complement, model))
    seen = float((first * second).mean())
    source, n = np.random.default_rng(seed), len(first)
    shuffled = np.empty(draws)
    for draw in range(draws):
        order = source.permutation(n)
        shuffled[draw] = (first * second[np.ix_(order, order)]).mean()
    # A score that is the same for all examples gives 0 whatever the order: p = 1.
    return Dependence(seen, rank_p(seen * (1 - 1e-9), shuffled))


def minimality(
    losses: Float[np.ndarray, " member"], inflated: Float[np.ndarray, " other"]
) -> Float[np.ndarray, " member"]:
    """p of each member: that its loss is one of a head that inflates the circuit.

    Every member is shown to be needed where the largest p is small: an intersection-union test, whose level
    needs no correction for their number [Berger 1982].
    """
    return np.array([rank_p(loss, inflated) for loss in losses.tolist()])


def rank_p(seen: float, drawn: Float[np.ndarray, " draw"], tail: Tail = "high") -> float:
    """p of a value among random ones: the share of them, itself counted, at least as extreme."""
    extreme = drawn >= seen if tail == "high" else drawn <= seen
    return float((1 + extreme.sum()) / (1 + len(drawn)))


def quantile(seen: float, drawn: Float[np.ndarray, " draw"]) -> float:
    """The share of random values below the one seen, equal ones half; NaN without any."""
    return float(((drawn < seen).mean() + (drawn <= seen).mean()) / 2) if len(drawn) else float("nan")


def _kernel(scores: Scores) -> Float[np.ndarray, "example example"]:
    """Gaussian, as wide as the median distance between different examples."""
    distance = np.abs(np.subtract.outer(scores, scores)).astype(np.float64)
    apart = distance[~np.eye(len(scores), dtype=bool)]
    width = float(np.median(apart)) if len(apart) else 0.0
    width = width or float(scores.std()) or 1.0
    return np.asarray(np.exp(-0.5 * (distance / width) ** 2))


def _centred(kernel: Float[np.ndarray, "example example"]) -> Float[np.ndarray, "example example"]:
    return np.asarray(kernel - kernel.mean(0) - kernel.mean(1)[:, None] + kernel.mean())
