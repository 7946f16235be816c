"""Do two ways of sorting heads go together? Counts, and how often chance would give as many. numpy, scipy.

Sets of heads of one kind (roles) against sets of another (names). Null: which names go together stays as it
is, but the heads that carry them are drawn anew from all heads, each order of heads as likely as any other.

1. p of a cell, one-sided: the hypergeometric tail, P(at least as many heads in both). Within layers, heads
   are exchanged only with heads of their own layer, and the count is a sum over layers: what is left of it
   then isn't because both sets lie in the same depth.
2. Corrected for all cells by the step-down minimum of p over draws of the null [Westfall, Young 1993]. Roles
   hold one another (always needed is needed in some seed) and a name of one head can't give a small p
   whatever happens: a correction that takes cells for independent and for reachable (Holm's) makes of forty
   such cells p = 1 throughout. The minimum over draws knows both.
3. ``least`` is the smallest p that a cell's two sizes allow.

corrected = (draws whose minimum is at most the p seen + 1) / (draws + 1) [Phipson, Smyth 2010].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

_BLOCK = 512
_ROUNDING = 1 + 1e-9
"""Two p that are the same number, however they were summed."""


@dataclass(frozen=True)
class Crossed:
    """By role and name: heads in both, what chance gives on average, p of at least as many, the same
    corrected for all cells, and the smallest p that there could be. Cells where either set is empty, or holds
    every head, can't be tested: p is NaN there, and they don't count in the correction.
    """

    count: Int[np.ndarray, "role name"]
    expected: Float[np.ndarray, "role name"]
    p: Float[np.ndarray, "role name"]
    corrected: Float[np.ndarray, "role name"]
    least: Float[np.ndarray, "role name"]


def crossed(
    roles: Bool[np.ndarray, "role layer head"],
    names: Bool[np.ndarray, "name layer head"],
    draws: int,
    seed: int,
    within_layers: bool = False,
) -> Crossed:
    """Count, and compare with chance; see the module."""
    wide, n_heads = roles.reshape(len(roles), -1).astype(float), roles[0].size
    flat = names.reshape(len(names), -1).astype(float)
    count = np.rint(wide @ flat.T).astype(np.int64)
    strata = (roles, names) if within_layers else (roles[:, None], names[:, None])
    chance = _chances(*(each.reshape(len(each), -1, _size(each)) for each in strata))
    tails = np.clip(chance[..., ::-1].cumsum(axis=-1)[..., ::-1], 0, 1)
    sizes = [each.sum(axis=1) for each in (wide, flat)]
    tested = np.logical_and.outer(*((size > 0) & (size < n_heads) for size in sizes))
    p = np.where(tested, _at(tails, count), np.nan)
    most = chance.shape[-1] - 1 - (chance[..., ::-1] > 0).argmax(axis=-1)
    corrected = np.full_like(p, np.nan)
    if tested.any():
        source = np.random.default_rng(seed)
        minima = [
            _at(tails, np.rint(drawn).astype(np.int64))[:, tested]
            for drawn in _drawn(source, wide, flat, draws, names.shape[1:], within_layers)
        ]
        corrected[tested] = _stepped(p[tested], np.concatenate(minima))
    expected = (chance * np.arange(chance.shape[-1])).sum(axis=-1)
    return Crossed(count, expected, p, corrected, np.where(tested, _at(tails, most), np.nan))


def _size(sets: Bool[np.ndarray, "set stratum *rest"]) -> int:
    return int(np.prod(sets.shape[2:]))


def _chances(
    roles: Bool[np.ndarray, "role stratum head"], names: Bool[np.ndarray, "name stratum head"]
) -> Float[np.ndarray, "role name count"]:
    """The probability of every count, under the null: hypergeometric in a stratum, summed over strata."""
    from scipy.stats import hypergeom

    n_heads, size = roles[0].size, roles.shape[2]
    having, carrying = roles.sum(axis=2), names.sum(axis=2)
    found = np.zeros((len(roles), len(names), n_heads + 1))
    for role, name in np.ndindex(found.shape[:2]):
        whole = np.ones(1)
        for k, n in zip(having[role], carrying[name], strict=True):
            whole = np.convolve(whole, hypergeom.pmf(np.arange(min(k, n) + 1), size, k, n))
        found[role, name, : len(whole)] = whole
    return found


def _at(
    tails: Float[np.ndarray, "role name count"], count: Int[np.ndarray, "*draw role name"]
) -> Float[np.ndarray, "*draw role name"]:
    role, name = np.ogrid[: tails.shape[0], : tails.shape[1]]
    return np.asarray(tails[role, name, count])


def _drawn(
    source: np.random.Generator,
    roles: Float[np.ndarray, "role all_heads"],
    names: Float[np.ndarray, "name all_heads"],
    draws: int,
    shape: tuple[int, ...],
    within_layers: bool,
) -> list[Float[np.ndarray, "draw role name"]]:
    """Counts with the names dealt to the heads anew, in blocks."""
    found = []
    for start in range(0, draws, _BLOCK):
        order = _orders(source, min(_BLOCK, draws - start), shape, within_layers)
        found.append(np.einsum("rh,dhn->drn", roles, names.T[order], optimize=True))
    return found


def _stepped(
    p: Float[np.ndarray, " cell"], drawn: Float[np.ndarray, "draw cell"]
) -> Float[np.ndarray, " cell"]:
    """The smallest p against the minimum of all cells, the next against that of the others, ...; never
    falling.
    """
    order = np.argsort(p, kind="stable")
    minima = np.minimum.accumulate(drawn[:, order[::-1]], axis=1)[:, ::-1]
    hits = (minima <= p[order] * _ROUNDING).sum(axis=0)
    corrected = np.empty(len(p))
    corrected[order] = np.maximum.accumulate((hits + 1) / (len(drawn) + 1))
    return corrected


def _orders(
    source: np.random.Generator, draws: int, shape: tuple[int, ...], within_layers: bool
) -> Int[np.ndarray, "draw all_heads"]:
    """Random orders of the heads, a draw a row."""
    layers, heads = shape
    grid = np.arange(layers * heads).reshape(1, layers, heads)
    if within_layers:
        return source.permuted(np.repeat(grid, draws, axis=0), axis=2).reshape(draws, -1)
    return source.permuted(np.repeat(grid.reshape(1, -1), draws, axis=0), axis=1)
