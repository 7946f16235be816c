"""How sure the Always and Any shares are, and how they move with the number of seeds.

has[seed, layer, head] says whether a head has a role in a seed; n seeds, c of them for a head that has it in
c.

1. **With fewer seeds**, exactly: the mean over all sets of m of the n seeds (none taken twice) is, head by
   head, Always = C(c, m) / C(n, m), Any = 1 - C(n - c, m) / C(n, m) [hypergeometric; rarefaction in Colwell
   et al. 2012].
2. **How far they stray**: bootstrap over seeds. n seeds drawn from n with repeats hold only 63 % different
   ones, so that Always comes out too high and Any too low: the plain percentile interval holds the truth in
   10 to 55 % of trials where 95 % are promised. The draws' mean is therefore moved to the exact value of 1;
   their spread is kept. Such intervals held the truth in 88 to 100 % of trials (3 to 10 seeds, independent
   and correlated heads). One seed has no spread to draw from: NaN.
3. **With more seeds**, by extrapolation: heads are to seeds what species are to samples. From the heads seen
   with a role in exactly one (q1) and two (q2) seeds follows how many more would turn up [Chao 1987; Colwell
   et al. 2012, equation 18]:

       q0 = (n-1)/n q1^2 / (2 q2),  at most the heads never seen        Any(n + k) = Any(n) + q0/H (1 - a^k)
       a  = 1 - q1 / (q1 + n q0)

   Where q2 is 0, 1/2 stands for it (choice: the usual q1 (q1 - 1) / 2 foresees nothing from a single head).
   Always is the same with the heads that *lack* the role: 1 - Any(lacking). q0 is a lower bound otherwise, so
   the share moves at least so far.
4. **How many more**: until one seed more is expected to move none of the shares by as much as ``SETTLED``.

All shares are of all heads, in [0, 1]. Seeds whose fit failed must be left out beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import Final

import numpy as np
from jaxtyping import Bool, Float, Int

SETTLED: Final = 0.005
"""One seed more that is expected to move a share by less than this (of all heads) adds little."""

MOST: Final = 64
"""Seeds in all that are ever suggested: as many as a run may have."""

DRAWS: Final = 1000
_TAILS = (0.025, 0.975)


@dataclass(frozen=True)
class Share:
    """Always or Any against the number of seeds 1 .. n: [seeds] each. ``low`` and ``high`` hold where 95 % of
    sets of so many seeds fall; NaN with a single seed.
    """

    mean: Float[np.ndarray, " seeds"]
    low: Float[np.ndarray, " seeds"]
    high: Float[np.ndarray, " seeds"]

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval with all seeds; None with a single one."""
        return (float(self.low[-1]), float(self.high[-1])) if len(self.low) > 1 else None


@dataclass(frozen=True)
class Certainty:
    """Both shares of one role."""

    always: Share
    any: Share


@dataclass(frozen=True)
class Suggestion:
    """How many seeds more, at least, and why. ``share`` is the one that moves most, by ``step`` (of all
    heads) with the next seed; ``settled`` whether ``more`` would bring all below ``SETTLED``, which ``MOST``
    may forbid.
    """

    more: int
    share: str
    step: float
    settled: bool


def certainty(has: Bool[np.ndarray, "seed layer head"], seed: int = 0) -> Certainty | None:
    """Both shares against the number of seeds, with bands; None without seeds. The same ``seed`` gives the
    same bands.
    """
    n = len(has)
    if not n:
        return None
    flat = has.reshape(n, -1)
    drawn = np.random.default_rng(seed).integers(n, size=(DRAWS, n))
    lacking = _share_seen(~flat, drawn)
    return Certainty(always=_mirrored(lacking), any=_share_seen(flat, drawn))


def expected_any(counts: Int[np.ndarray, " head"], n: int, m: int) -> float:
    """Mean of Any over all sets of m of n seeds, from the number of seeds in which each head is seen."""
    missed = np.array([comb(n - c, m) / comb(n, m) for c in range(n + 1)])
    return float(1 - missed[counts].mean())


def extrapolated_any(
    has: Bool[np.ndarray, "seed layer head"], totals: Sequence[int]
) -> Float[np.ndarray, " total"]:
    """Any with so many seeds in all, each at least as many as there are. NaN with a single seed."""
    n = len(has)
    counts = has.reshape(n, -1).sum(axis=0)
    seen = float((counts > 0).mean())
    if n < 2:
        return np.full(len(totals), np.nan)
    unseen, keep = _unseen(counts, n)
    more = np.array(totals, dtype=float) - n
    return np.asarray(seen + unseen / len(counts) * (1 - keep**more))


def extrapolated_always(
    has: Bool[np.ndarray, "seed layer head"], totals: Sequence[int]
) -> Float[np.ndarray, " total"]:
    """Always with so many seeds in all; as ``extrapolated_any``."""
    return np.asarray(1 - extrapolated_any(~has, totals))


def suggestion(roles: Mapping[str, Bool[np.ndarray, "seed layer head"]]) -> Suggestion | None:
    """How many seeds more make no difference to any role's Always or Any; None with fewer than two seeds,
    from which nothing can be told.
    """
    n = len(next(iter(roles.values())))
    if n < 2:
        return None
    totals = range(n, max(n, MOST) + 2)
    moves = {}
    for role, has in roles.items():
        for name, curve in (("always", extrapolated_always), ("any", extrapolated_any)):
            moves[f"{name} {role}"] = np.abs(np.diff(curve(has, totals)))
    most = np.max(list(moves.values()), axis=0)
    share = max(moves, key=lambda name: float(moves[name][0]))
    below = np.flatnonzero(most < SETTLED)
    more = int(below[0]) if len(below) else len(most) - 1
    return Suggestion(more, share, float(most[0]), settled=len(below) > 0)


def _share_seen(flat: Bool[np.ndarray, "seed head"], drawn: Int[np.ndarray, "draw seed"]) -> Share:
    """Any against the number of seeds; a draw of m seeds is the first m of a draw of n."""
    n = len(flat)
    counts = flat.sum(axis=0)
    mean = np.array([expected_any(counts, n, m) for m in range(1, n + 1)])
    if n == 1:
        return Share(mean, np.full(1, np.nan), np.full(1, np.nan))
    low, high = np.empty(n), np.empty(n)
    seen = np.zeros((len(drawn), flat.shape[1]), bool)
    for m in range(n):
        seen |= flat[drawn[:, m]]
        shares = seen.mean(axis=1)
        tails = np.quantile(shares, _TAILS) - shares.mean()
        low[m], high[m] = np.clip(mean[m] + tails, 0, 1)
    return Share(mean, np.minimum(low, mean), np.maximum(high, mean))


def _mirrored(lacking: Share) -> Share:
    return Share(1 - lacking.mean, 1 - lacking.high, 1 - lacking.low)


def _unseen(counts: Int[np.ndarray, " head"], n: int) -> tuple[float, float]:
    """How many more heads endless seeds would turn up, and the share of them that a seed leaves unseen."""
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    unseen = min((n - 1) / n * once**2 / (2 * max(twice, 0.5)), float((counts == 0).sum()))
    return unseen, 1 - once / (once + n * unseen) if unseen else 0.0
