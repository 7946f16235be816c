"""Which virtual heads keep their pattern and spectrum: a few of many, the most important first."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from jaxtyping import Float, UInt16
from numpy.typing import NDArray

MOST_IMPORTANT = 12
"""Virtual heads kept, whatever heads they are made of."""

MOST_KEPT = 24
"""With each later head's own first one."""


def by_importance(
    marginal: Float[np.ndarray, "layer head layer head"],
) -> UInt16[np.ndarray, "pair place"]:
    """The pairs without which the loss changes most, and each later head's own first one.

    ``marginal`` is the rise of the loss without a pair in nats a token, NaN where there is no pair. At most
    ``MOST_KEPT``, each as (layer, head, layer, head). Those that help come before those that harm, the larger
    effect first: in a trained model what a head is for is seen in what gets worse without it.
    """
    known = np.argwhere(np.isfinite(marginal))
    rise = marginal[tuple(known.T)]
    order = np.lexsort((-np.abs(rise), rise <= 0))
    known, rise = known[order], rise[order]
    largest = np.argsort(-np.abs(rise), kind="stable")[:MOST_IMPORTANT]
    _, own = np.unique(known[:, 2:], axis=0, return_index=True)
    both = list(dict.fromkeys([*largest.tolist(), *np.sort(own).tolist()]))
    pairs: NDArray[np.uint16] = known[sorted(both[:MOST_KEPT])].astype(np.uint16)
    return pairs


def by_value(terms: Iterable[tuple[int, int, float]], n_heads: int) -> UInt16[np.ndarray, "pair place"]:
    """The pairs that add most to the logit or take most from it, their sources together.

    ``terms`` are paths: the numbers of both heads (-1 for none) and the value in logits.
    """
    totals: dict[tuple[int, int], float] = {}
    for one, two, amount in terms:
        if two >= 0:
            totals[(one, two)] = totals.get((one, two), 0.0) + amount
    ranked = sorted(totals, key=lambda pair: -abs(totals[pair]))[:MOST_IMPORTANT]
    pairs = [(*divmod(one, n_heads), *divmod(two, n_heads)) for one, two in ranked]
    return np.array(pairs, np.uint16).reshape(-1, 4)
