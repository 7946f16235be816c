"""Which heads have a role beyond what fits on permuted targets give, at a false-discovery rate.

k of S fits give a head a role, c of N null fits the same head. Heads differ in how often they have a role
whatever the targets are, and few null fits tell a head's own null rate badly. So:

1. The null rates of all heads are spread like Beta(a, b), fitted to the null counts (``replication``).
2. The head's own null rate, given its null fits: Beta(a + c, b + N - c).
3. p = P(K >= k) for K ~ beta-binomial(S, a + c, b + N - c): how often a head of this null would have the role
   in at least as many fits. It is never 0, as the null rate is never known exactly, and steps of k make it
   conservative.
4. Over the heads, Benjamini and Hochberg (1995): q, the smallest false-discovery rate at which a head counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from jaxtyping import Bool, Float, Int

from headscope.core.statistics.replication import fitted_prior
from headscope.core.statistics.significance import benjamini_hochberg

RATE: Final = 0.05
"""The false-discovery rate at which heads are reported."""


@dataclass(frozen=True)
class Discoveries:
    """Of one role: each head's share of the null fits, its p and its q."""

    null_share: Float[np.ndarray, "*heads"]
    p: Float[np.ndarray, "*heads"]
    q: Float[np.ndarray, "*heads"]

    @property
    def found(self) -> Bool[np.ndarray, "*heads"]:
        """The heads that stand out at a false-discovery rate of ``RATE``."""
        return np.asarray(self.q <= RATE)


def discoveries(has: Bool[np.ndarray, " fit *heads"], null: Bool[np.ndarray, " null *heads"]) -> Discoveries:
    """Which heads have the role in more fits than the null fits tell; at least one of each."""
    p = null_p(has.sum(axis=0), len(has), null.sum(axis=0), len(null))
    return Discoveries(null.mean(axis=0), p, benjamini_hochberg(p))


def null_p(
    count: Int[np.ndarray, "*heads"], fits: int, null_count: Int[np.ndarray, "*heads"], null_fits: int
) -> Float[np.ndarray, "*heads"]:
    """By head: p of so many fits with the role, were its rate that of fits on permuted targets."""
    from scipy.special import betaln

    prior = fitted_prior(null_count, null_fits)
    a, b = prior.a + null_count, prior.b + null_fits - null_count
    each = np.arange(fits + 1)
    a, b = a[..., None], b[..., None]
    ways = -np.log(fits + 1) - betaln(fits - each + 1, each + 1)
    chance = np.exp(ways + betaln(each + a, fits - each + b) - betaln(a, b))
    return np.asarray(np.where(each >= count[..., None], chance, 0).sum(axis=-1).clip(max=1))
