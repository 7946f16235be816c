"""Whether a head would have its role again in a new fit, from how many fits gave it the role.

A head has a role in k of S fits; p is its rate, the share of endlessly many fits that would.

1. **Prior.** The rates of a run's heads are spread like Beta(a, b), so that the counts are beta-binomial:

       log P(k | a, b) = log B(k + a, S - k + b) - log B(a, b) + const

   Its sum over the heads is made as large as it gets, less (log a - log 1/2)^2 / 2 and the same of b
   (empirical Bayes). That penalty is **choice**: 270 heads don't notice it; where heads say little (one head,
   a dozen, all of them in no fit or in every one) it draws both to Jeffreys' 1/2 and keeps them finite. One
   fit shows no spread of rates, so that the prior is Beta(1/2, 1/2) then, whatever the heads show.
2. **Posterior** of a head: Beta(a + k, b + S - k). Its mean is also the probability that a new fit gives the
   head the role.
3. **Verdict.** ``replicates``: P(p >= 0.8) >= 0.9; ``leans``: P(p >= 0.5) >= 0.95; else ``undecided``, which
   is not the opposite of either.
4. **Split-half.** Pearson's r over heads between the shares in two disjoint halves of the fits, mean over
   random halves, stepped up to all S by Spearman and Brown's formula.

numpy and scipy only. Fits that failed must be left out beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from jaxtyping import Bool, Float, Int

Verdict = Literal["undecided", "leans", "replicates"]

VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
"""By code: the surer, the higher."""

UNDECIDED, LEANS, REPLICATES = range(3)

MOST: Final = 64
"""Fits in all that are ever looked ahead to: as many as a run may have."""

HALVES: Final = 200
FEWEST_TO_HALVE: Final = 4

_JEFFREYS = 0.5
_TAILS = (0.05, 0.95)
_RATE_TO_REPLICATE, _SURE_TO_REPLICATE = 0.8, 0.9
_RATE_TO_LEAN, _SURE_TO_LEAN = 0.5, 0.95
_FARTHEST = 8.0
"""Of log a and log b: a rate's spread below 1e-3 is none."""


@dataclass(frozen=True)
class Prior:
    """Beta(a, b) of the rates of a run's heads."""

    a: float
    b: float


@dataclass(frozen=True)
class Replication:
    """Of one role, by head (or whatever shape the counts had).

    ``share`` is the share of ``fits`` that gave the role (NaN without any), ``rate`` the posterior mean of p,
    which is the probability of the role in a new fit, ``low`` and ``high`` the ends of p's 90 % interval,
    ``verdict`` a place in ``VERDICTS``. ``more`` says how many more fits would make it replicate if the share
    stays as it is, ``more_at_best`` if all of them give the role: 0 where it does, -1 where it doesn't within
    ``MOST`` fits.
    """

    prior: Prior
    fits: int
    count: Int[np.ndarray, "*heads"]
    share: Float[np.ndarray, "*heads"]
    rate: Float[np.ndarray, "*heads"]
    low: Float[np.ndarray, "*heads"]
    high: Float[np.ndarray, "*heads"]
    verdict: Int[np.ndarray, "*heads"]
    more: Int[np.ndarray, "*heads"]
    more_at_best: Int[np.ndarray, "*heads"]

    @property
    def replicates(self) -> Bool[np.ndarray, "*heads"]:
        """Which heads have the verdict."""
        return np.asarray(self.verdict == REPLICATES)


def replication(count: Int[np.ndarray, "*heads"], fits: int, prior: Prior | None = None) -> Replication:
    """What the counts of so many fits say of each head; the prior is fitted to them unless given."""
    from scipy.special import betaincinv  # here as below: a page that only reads other runs waits for none

    prior = prior or fitted_prior(count, fits)
    each = np.arange(fits + 1)
    a, b = prior.a + each, prior.b + fits - each
    low, high = (betaincinv(a, b, tail)[count] for tail in _TAILS)
    ahead = np.arange(max(0, MOST - fits) + 1)
    seen = each[:, None] * (1 + ahead / fits) if fits else np.zeros((1, len(ahead)))
    return Replication(
        prior=prior,
        fits=fits,
        count=count,
        share=count / fits if fits else np.full(count.shape, np.nan),
        rate=(a / (a + b))[count],
        low=low,
        high=high,
        verdict=_verdicts(a, b)[count],
        more=_first(seen, fits + ahead, prior)[count],
        more_at_best=_first(each[:, None] + ahead, fits + ahead, prior)[count],
    )


def fitted_prior(count: Int[np.ndarray, "*heads"], fits: int) -> Prior:
    """The prior of greatest penalised marginal likelihood; see the module for one fit and few heads."""
    from scipy.optimize import minimize
    from scipy.special import betaln

    if fits < 2:
        return Prior(_JEFFREYS, _JEFFREYS)
    each = np.arange(fits + 1)
    heads = np.bincount(count.reshape(-1), minlength=fits + 1)

    def loss(log_parameters: Float[np.ndarray, " two"]) -> float:
        a, b = np.exp(log_parameters)
        likelihood = heads @ (betaln(each + a, fits - each + b) - betaln(a, b))
        return float(((log_parameters - np.log(_JEFFREYS)) ** 2).sum() / 2 - likelihood)

    start = np.full(2, np.log(_JEFFREYS))
    found = minimize(loss, start, method="L-BFGS-B", bounds=[(-_FARTHEST, _FARTHEST)] * 2)
    a, b = np.exp(found.x).tolist()
    return Prior(a, b)


def fits_to_replicate(prior: Prior) -> int | None:
    """How many fits, all with the role, make a head of such a run replicate; None if more than ``MOST``."""
    fits = np.arange(1, MOST + 1)
    enough = _probability(prior.a + fits, np.full(MOST, prior.b), _RATE_TO_REPLICATE) >= _SURE_TO_REPLICATE
    return int(fits[enough][0]) if enough.any() else None


def split_half(has: Bool[np.ndarray, " seed *heads"], seed: int = 0) -> float | None:
    """How well the shares of one half of the fits tell those of the other, for all fits; at most 1.

    An odd fit is left out of a split. Only a positive r is stepped up. None with fewer than four fits, or
    where a half has the same share for all heads.
    """
    fits = len(has)
    if fits < FEWEST_TO_HALVE:
        return None
    flat, half, source = has.reshape(fits, -1).astype(float), fits // 2, np.random.default_rng(seed)
    found = []
    for _ in range(HALVES):
        order = source.permutation(fits)
        first, second = flat[order[:half]].mean(axis=0), flat[order[half : 2 * half]].mean(axis=0)
        if np.ptp(first) and np.ptp(second):
            found.append(np.corrcoef(first, second)[0, 1])
    return _stepped_up(float(np.mean(found)), fits / half) if found else None


def _stepped_up(r: float, times: float) -> float:
    """Spearman and Brown (1910): the correlation of measurements so many times as long."""
    return min(1.0, times * r / (1 + (times - 1) * r)) if r > 0 else r


def _verdicts(a: Float[np.ndarray, " any"], b: Float[np.ndarray, " any"]) -> Int[np.ndarray, " any"]:
    leans = _probability(a, b, _RATE_TO_LEAN) >= _SURE_TO_LEAN
    replicates = _probability(a, b, _RATE_TO_REPLICATE) >= _SURE_TO_REPLICATE
    return np.where(replicates, REPLICATES, np.where(leans, LEANS, UNDECIDED))


def _first(
    count: Float[np.ndarray, "count ahead"] | Int[np.ndarray, "count ahead"],
    fits: Int[np.ndarray, " ahead"],
    prior: Prior,
) -> Int[np.ndarray, " count"]:
    """The first column in which a row replicates, -1 where none does."""
    sure = _probability(prior.a + count, prior.b + fits - count, _RATE_TO_REPLICATE) >= _SURE_TO_REPLICATE
    return np.where(sure.any(axis=1), sure.argmax(axis=1), -1)


def _probability(
    a: Float[np.ndarray, "*any"], b: Float[np.ndarray, "*any"], rate: float
) -> Float[np.ndarray, "*any"]:
    """P(p >= rate) under Beta(a, b)."""
    from scipy.special import betaincc

    return np.asarray(betaincc(a, b, rate))
