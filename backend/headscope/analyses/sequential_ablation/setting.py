"""What sequential ablation takes away, and from what: a gating run's seeds with their orders and masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from headscope.analyses.base import Spec
from headscope.analyses.gating_run import gating_run
from headscope.analyses.sequential_ablation.schema import SequentialAblationParams, tried
from headscope.core.gating.removal import best_first, random_order
from headscope.core.gating.roles import SCORE_NAMES, scores


@dataclass(frozen=True, eq=False)
class Setting:
    """``orders`` has a seed's three orders by score, in the order of SCORE_NAMES, then its random orders.

    ``random`` tells of each random order which seed's base mask it has, by index, and its place there.
    """

    seeds: Sequence[int]
    failed: Sequence[int]
    base: Float[np.ndarray, "seed layer head"]
    score: Float[np.ndarray, "score seed layer head"]
    orders: Sequence[Int[np.ndarray, "_ rank"]]
    random: Sequence[tuple[int, int]]
    tried: Sequence[int]
    complete: bool

    @property
    def inner(self) -> Sequence[int]:
        """The numbers k that differ from order to order: not all heads."""
        return self.tried[:-1] if self.complete else self.tried


def setting(spec: Spec[SequentialAblationParams]) -> Setting:
    """From the gating run. Raises what ``gating_run`` does, ``Invalid`` (too-many-heads)."""
    params, run = spec.params, gating_run(spec, "gating")
    ks = tried(params, spec.model)
    known, chosen = np.asarray(run.seeds), np.flatnonzero(run.ran)[: params.seeds]
    plus, minus = (gates[chosen].astype(np.float64) for gates in (run.g_plus, run.g_minus))
    score = np.stack([scores(plus, minus)[name] for name in SCORE_NAMES])
    heads = spec.model.n_layers * spec.model.n_heads
    drawn = [random_order(params.first_seed + number, heads) for number in range(params.orders)]
    n = len(chosen)
    return Setting(
        seeds=known[chosen].tolist(),
        failed=known[~run.ran].tolist(),
        base=plus,
        score=score,
        orders=[np.stack([*map(best_first, score[:, seed]), *drawn[seed::n]]) for seed in range(n)],
        random=[(number % n, len(SCORE_NAMES) + number // n) for number in range(params.orders)],
        tried=ks,
        complete=ks[-1] == heads,
    )
