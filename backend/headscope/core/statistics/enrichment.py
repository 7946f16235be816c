"""Do two ways of sorting heads go together? Counts, and how often chance would give as many. numpy only.

Sets of heads of one kind (roles) against sets of another (names). Null: which names go together stays as it
is, but the heads that carry them are drawn anew from all heads, each order of heads as likely as any other.
One-sided: p = (draws with at least as many heads in both as seen + 1) / (draws + 1) [Phipson, Smyth 2010].
Within layers, heads are exchanged only with heads of their own layer: what is left of a count then isn't
because both sets lie in the same depth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from headscope.core.statistics.significance import holm

_BLOCK = 512


@dataclass(frozen=True)
class Crossed:
    """By role and name: heads in both, what chance gives on average, p of at least as many, and the same
    corrected for the number of cells [Holm 1979]. Cells where either set is empty, or holds every head, can't
    be tested: p is NaN there, and they don't count in the correction.
    """

    count: Int[np.ndarray, "role name"]
    expected: Float[np.ndarray, "role name"]
    p: Float[np.ndarray, "role name"]
    holm: Float[np.ndarray, "role name"]


def crossed(
    roles: Bool[np.ndarray, "role layer head"],
    names: Bool[np.ndarray, "name layer head"],
    draws: int,
    seed: int,
    within_layers: bool = False,
) -> Crossed:
    """Count and permute; see the module."""
    wide, n_heads = roles.reshape(len(roles), -1).astype(float), roles[0].size
    flat = names.reshape(len(names), -1).astype(float)
    count = wide @ flat.T
    hits, total = np.zeros_like(count), np.zeros_like(count)
    source = np.random.default_rng(seed)
    for start in range(0, draws, _BLOCK):
        order = _orders(source, min(_BLOCK, draws - start), names.shape[1:], within_layers)
        drawn = np.einsum("rh,dhn->drn", wide, flat.T[order], optimize=True)
        hits += (drawn >= count - 0.5).sum(axis=0)
        total += drawn.sum(axis=0)
    sizes = [each.sum(axis=1) for each in (wide, flat)]
    tested = np.logical_and.outer(*((size > 0) & (size < n_heads) for size in sizes))
    p = np.where(tested, (hits + 1) / (draws + 1), np.nan)
    corrected = np.full_like(p, np.nan)
    corrected[tested] = holm(p[tested])
    return Crossed(count.astype(np.int64), total / draws, p, corrected)


def _orders(
    source: np.random.Generator, draws: int, shape: tuple[int, ...], within_layers: bool
) -> Int[np.ndarray, "draw all_heads"]:
    """Random orders of the heads, a draw a row."""
    layers, heads = shape
    grid = np.arange(layers * heads).reshape(1, layers, heads)
    if within_layers:
        return source.permuted(np.repeat(grid, draws, axis=0), axis=2).reshape(draws, -1)
    return source.permuted(np.repeat(grid.reshape(1, -1), draws, axis=0), axis=1)
