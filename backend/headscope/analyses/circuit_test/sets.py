"""The sets of heads that a circuit test keeps, all others replaced: each distinct one is evaluated once.

    ends        none, all                       circuit     C, all without C
    curve       by ranking and size             at_size     by ranking, as many heads as C has
    order       by random ranking and size      random      circuits of C's size, without   their complements
    kept        C without K, random K in C      whole       all without the same K
    member      C without each of its heads     inflated    C with each of some heads from outside

Which they are follows from the request alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from headscope.analyses.base import Spec
from headscope.analyses.circuit_test.circuit import circuit, rankings
from headscope.analyses.circuit_test.schema import CircuitTestParams
from headscope.core.gating.faithfulness import head_counts
from headscope.core.gating.removal import best_first, random_order

Kept = Bool[np.ndarray, "*set head"]


@dataclass(frozen=True, eq=False)
class Sets:
    """``where`` says by name which of the ``distinct`` sets a set is; ``outside`` are the heads, by their
    flat number, that ``inflated`` adds.
    """

    distinct: Bool[np.ndarray, "distinct layer head"]
    where: Mapping[str, Int[np.ndarray, "..."]]
    outside: Int[np.ndarray, " other"]

    def scores(self, found: Float[np.ndarray, "distinct example"], name: str) -> Float[np.ndarray, "..."]:
        """The mean over examples of each set of that name."""
        return np.asarray(found.mean(axis=1)[self.where[name]])


def sets(spec: Spec[CircuitTestParams]) -> Sets:
    """Raises what ``circuit`` and ``rankings`` do."""
    params, model = spec.params, spec.model
    heads = model.n_layers * model.n_heads
    chosen = np.zeros(heads, bool)
    chosen[[layer * model.n_heads + head for layer, head in circuit(spec)]] = True
    members, others = np.flatnonzero(chosen), np.flatnonzero(~chosen)
    draw = np.random.default_rng([params.first_seed, heads, len(members)])
    orders = [best_first(score) for score in rankings(spec).values()]
    at_random = [random_order(params.first_seed + number, heads) for number in range(params.orders)]
    counts = head_counts(heads)
    random = np.stack([_first(draw.permutation(heads), len(members)) for _ in range(params.circuits)])
    knocked = chosen & (draw.uniform(size=(params.subsets, heads)) < 0.5)
    outside = np.sort(draw.permutation(others)[: params.inflations])
    named: dict[str, Kept] = {
        "ends": np.repeat([[False], [True]], heads, axis=1),
        "circuit": np.stack([chosen, ~chosen]),
        "curve": _curves(orders, counts, heads),
        "at_size": _curves(orders, [len(members)], heads)[:, 0],
        "order": _curves(at_random, counts, heads),
        "random": random,
        "without": ~random,
        "kept": chosen & ~knocked,
        "whole": ~knocked,
        "member": chosen ^ _each(members, heads),
        "inflated": chosen | _each(outside, heads),
    }  # fmt: skip
    every = np.concatenate([kept.reshape(-1, heads) for kept in named.values()])
    distinct, place = np.unique(every, axis=0, return_inverse=True)
    ends = np.cumsum([kept.size // heads for kept in named.values()])
    parts = np.split(place.reshape(-1), ends[:-1])
    where = {
        name: part.reshape(kept.shape[:-1]) for (name, kept), part in zip(named.items(), parts, strict=True)
    }
    return Sets(distinct.reshape(-1, model.n_layers, model.n_heads), where, outside)


def _curves(
    orders: list[Int[np.ndarray, " rank"]], counts: list[int], heads: int
) -> Bool[np.ndarray, "order size head"]:
    kept = [[_first(order, count) for count in counts] for order in orders]
    return np.array(kept, bool).reshape(len(orders), len(counts), heads)


def _first(order: Int[np.ndarray, " rank"], count: int) -> Bool[np.ndarray, " head"]:
    kept = np.zeros(len(order), bool)
    kept[order[:count]] = True
    return kept


def _each(places: Int[np.ndarray, " place"], heads: int) -> Bool[np.ndarray, "place head"]:
    return np.asarray(np.arange(heads) == places[:, None])
