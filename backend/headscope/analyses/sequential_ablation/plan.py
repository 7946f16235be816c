"""How sequential ablation is cut.

1. ``orders``: which seeds, their orders of heads by each score, and the random orders. No passes.
2. ``ends``: with every head taken no order and no base mask is left; both forms are computed once for all.
3. ``seed/s/a-b/i-n``: under the base mask of one seed its orders number a to b, those by score first, then
   its random ones; on every n-th held-out example from the i-th on, where one piece would take too long.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from headscope.analyses.base import Result
from headscope.analyses.cutting import PIECE_FLOP, blocks, fitting
from headscope.analyses.held_out import NOMINAL_TOKENS
from headscope.analyses.legacy import Piece
from headscope.analyses.orders import fitted
from headscope.analyses.sequential_ablation.schema import SequentialAblationParams, tried
from headscope.core.gating.removal import best_first, layers_passed, random_order
from headscope.core.gating.roles import SCORE_NAMES, scores
from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo


@dataclass(frozen=True)
class Work:
    """A piece and what it is for: ``seed`` and ``orders`` index those of ``Setting``, every ``shares``-th
    example from ``share`` on.
    """

    piece: Piece
    kind: Literal["orders", "ends", "seed"]
    seed: int = 0
    orders: range = range(0)
    share: int = 0
    shares: int = 1


@dataclass(frozen=True)
class Setting:
    """What is removed, and from what: axes seed, order, rank, layer, head.

    ``orders`` has a seed's three orders by score, in the order of SCORE_NAMES, then its random orders.
    ``random`` tells of each random order which seed's base mask it has, by index, and its place there.
    """

    seeds: tuple[int, ...]
    failed: tuple[int, ...]
    base: np.ndarray
    score: np.ndarray
    orders: tuple[np.ndarray, ...]
    random: tuple[tuple[int, int], ...]
    tried: tuple[int, ...]
    complete: bool

    @property
    def inner(self) -> list[int]:
        """The numbers k that differ from order to order: not all heads."""
        return list(self.tried[:-1] if self.complete else self.tried)


def setting(params: SequentialAblationParams, model: ModelInfo, run: Result) -> Setting:
    """From a gating run. Raises ``Invalid`` (too-many-heads)."""
    ks = tried(params, model)
    ran = fitted(run)
    known = np.asarray(run.seeds)
    chosen = np.flatnonzero(ran)[: params.seeds]
    plus, minus = (run.arrays[name][chosen].astype(np.float64) for name in ("g_plus", "g_minus"))
    score = np.stack([scores(plus, minus)[name] for name in SCORE_NAMES])
    heads = model.n_layers * model.n_heads
    drawn = [random_order(params.first_seed + number, heads) for number in range(params.orders)]
    n = len(chosen)
    orders = tuple(
        np.stack([best_first(of_seed[seed]) for of_seed in score] + drawn[seed::n]) for seed in range(n)
    )
    return Setting(
        seeds=tuple(known[chosen].tolist()),
        failed=tuple(known[~ran].tolist()),
        base=plus,
        score=score,
        orders=orders,
        random=tuple((number % n, len(SCORE_NAMES) + number // n) for number in range(params.orders)),
        tried=tuple(ks),
        complete=ks[-1] == heads,
    )


def plan(params: SequentialAblationParams, model: ModelInfo, given: Setting) -> list[Work]:
    """All pieces in the order they are computed."""
    whole = forward_flop(model, NOMINAL_TOKENS, 1) * params.n_test
    works = [Work(Piece("orders", "Ordering the heads", weight=whole / 100), "orders")]
    if given.complete:
        works.append(Work(Piece("ends", "All heads closed and opened", weight=2 * whole), "ends"))
    for seed in range(len(given.seeds)):
        works += _of_seed(params, model, given, seed)
    return works


def _of_seed(params: SequentialAblationParams, model: ModelInfo, given: Setting, seed: int) -> Iterator[Work]:
    orders, name = given.orders[seed], given.seeds[seed]
    costs = [_flop(params, model, given, orders[[index]]) for index in range(len(orders))]
    at_once = fitting(len(orders), max(costs), len(orders))
    for some in blocks(range(len(orders)), at_once):
        flop = _flop(params, model, given, orders[some.start : some.stop])
        shares = max(1, min(params.n_test, math.ceil(flop / PIECE_FLOP)))
        for share in range(shares):
            key = f"seed/{name}/{some.start}-{some.stop - 1}/{share}-{shares}"
            label = f"Heads removed, seed {name}" + (
                f", examples part {share + 1} of {shares}" if shares > 1 else ""
            )
            yield Work(Piece(key, label, ("orders",), flop / shares), "seed", seed, some, share, shares)


def _flop(params: SequentialAblationParams, model: ModelInfo, given: Setting, orders: np.ndarray) -> float:
    passed = layers_passed(orders, given.inner, model.n_layers, model.n_heads)
    read = 2 * (1 + len(orders) * (len(given.inner) - 1))
    body = forward_flop(model, NOMINAL_TOKENS, 0) * passed / model.n_layers
    return params.n_test * (body + read * forward_flop(model, 0, 1))
