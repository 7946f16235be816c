"""How a sufficiency run is cut.

1. ``chosen/a-b``: the curve's points number a to b, heads opened in the order of facilitation.
2. ``narrow``: bisection for the fewest heads that keep enough, between the two points that hold it.
3. ``random/s/a-b``: the same points in a random order, one for each seed; not the ends, which all share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise

from headscope.analyses import ablation
from headscope.analyses.base import Piece, Spec
from headscope.analyses.costing import NOMINAL_TOKENS
from headscope.analyses.cutting import blocks, fitting
from headscope.analyses.sufficiency.pieces import narrowed, scored, training
from headscope.analyses.sufficiency.schema import SufficiencyParams
from headscope.core.gating.removal import counts
from headscope.core.model.cost import forward_flop


@dataclass(frozen=True)
class Cuts:
    """A run's pieces by what they are for; ``random`` by order."""

    means: Sequence[Piece]
    chosen: Sequence[Piece]
    narrow: Piece
    random: Sequence[Sequence[Piece]]

    @property
    def pieces(self) -> list[Piece]:
        """All, in the order in which they are computed."""
        return [*self.means, *self.chosen, self.narrow, *chain.from_iterable(self.random)]


def cuts(spec: Spec[SufficiencyParams]) -> Cuts:
    """The run's pieces."""
    params, tried = spec.params, grid(spec)
    ablation.check_pairs(params.ablation, spec.task)
    means = ablation.means(params.ablation, spec.model, partial(training, spec))
    chosen = _scoring(spec, tried, "chosen", "Heads opened by facilitation")
    needs = tuple(piece.key for piece in chosen)
    steps = math.ceil(math.log2(max(2, *(b - a for a, b in pairwise(tried)))))
    label, weight = "Narrowing down the fewest heads", ask_flop(spec) * steps
    at_random = []
    for order in range(params.orders):
        words = f"Heads opened at random, order {order + 1} of {params.orders}"
        at_random.append(_scoring(spec, tried, f"random/{order}", words, params.first_seed + order))
    every = (*needs, *ablation.needs(params.ablation))
    narrow = Piece("narrow", label, partial(narrowed, spec, needs), every, weight)
    return Cuts(means, chosen, narrow, at_random)


def grid(spec: Spec[SufficiencyParams]) -> list[int]:
    """Numbers of open heads that every order is scored at."""
    return counts(spec.params.points, spec.model.n_layers * spec.model.n_heads)


def ask_flop(spec: Spec[SufficiencyParams]) -> float:
    """Of one point: all held-out examples once."""
    return forward_flop(spec.model, NOMINAL_TOKENS, 1) * spec.params.n_test


def _scoring(
    spec: Spec[SufficiencyParams], tried: Sequence[int], key: str, label: str, seed: int | None = None
) -> list[Piece]:
    """A curve's pieces: by facilitation, or without the ends in the random order of a ``seed``."""
    ask, points = ask_flop(spec), range(len(tried)) if seed is None else range(1, len(tried) - 1)
    return [
        Piece(
            f"{key}/{block.start}-{block.stop - 1}",
            label,
            partial(scored, spec, tried[block.start : block.stop], seed),
            ablation.needs(spec.params.ablation),
            weight=ask * len(block),
        )
        for block in blocks(points, fitting(len(tried), ask, len(tried)))
    ]
