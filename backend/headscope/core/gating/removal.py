"""Heads taken one after another: in what order, at what counts, and which layer changes first. numpy only.

An order is all heads by their flat number, layer * n_heads + head.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from jaxtyping import Float, Int


def best_first(score: Float[np.ndarray, "layer head"]) -> Int[np.ndarray, " rank"]:
    """All heads, the highest score first; equal ones in the order of layer and head."""
    return np.argsort(-score.reshape(-1), kind="stable")


def random_order(seed: int, heads: int) -> Int[np.ndarray, " rank"]:
    """All heads in a random order of this seed's own."""
    return np.random.default_rng([seed, heads]).permutation(heads)


def counts(points: int, largest: int) -> list[int]:
    """Numbers of heads to try, from none to ``largest``, at most ``points`` of them: close together at first.

    Even steps in the square root, so that a curve that moves early is seen to; every number where they fit.
    """
    if points > largest:
        return list(range(largest + 1))
    steps = np.round(np.linspace(0, np.sqrt(largest), points) ** 2).astype(int)
    return sorted({0, largest, *steps.tolist()})


def first_changed(order: Int[np.ndarray, " rank"], tried: Sequence[int], n_heads: int) -> list[int]:
    """From each count tried to the next: the lowest layer that holds a head which joins.

    Everything below it is as it was at the count before.
    """
    return [int(order[before:after].min()) // n_heads for before, after in pairwise(tried)]


def layers_passed(
    orders: Int[np.ndarray, "order rank"], tried: Sequence[int], n_layers: int, n_heads: int
) -> int:
    """Layers that an example passes through, in two forms: all of them once, then for each order and count
    those from where the forms first change.
    """
    starts = [start for order in orders for start in first_changed(order, tried, n_heads)]
    return 2 * (n_layers + sum(n_layers - start for start in starts))


def forms(
    base: Float[np.ndarray, "layer head"], order: Int[np.ndarray, " rank"], tried: Sequence[int]
) -> Float[np.ndarray, "count 2 layer head"]:
    """The base mask with the first k heads of an order at 0, and with them at 1, for each k tried."""
    masks = np.repeat(base.reshape(1, 1, -1), 2, axis=1).repeat(len(tried), axis=0)
    for row, k in enumerate(tried):
        masks[row, :, order[:k]] = [0.0, 1.0]
    return masks.reshape(len(tried), 2, *base.shape)
