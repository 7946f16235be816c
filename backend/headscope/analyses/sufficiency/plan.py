"""How a sufficiency run is cut.

1. ``chosen/a-b``: the curve's points number a to b, heads opened in the order of facilitation.
2. ``narrow``: bisection for the fewest heads that keep enough, between the two points that hold it.
3. ``random/s/a-b``: the same points in a random order, one for each seed; not the ends, which all share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from headscope.analyses.cutting import blocks, fitting
from headscope.analyses.held_out import NOMINAL_TOKENS
from headscope.analyses.legacy import Piece
from headscope.analyses.sufficiency.schema import SufficiencyParams
from headscope.core.gating.removal import counts
from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo


@dataclass(frozen=True)
class Work:
    """A piece and what it is for: ``points`` index the grid, ``order`` the random orders."""

    piece: Piece
    kind: Literal["chosen", "narrow", "random"]
    points: range = range(0)
    order: int = 0


def plan(params: SufficiencyParams, model: ModelInfo) -> list[Work]:
    """All pieces of a run in the order they are computed."""
    tried = counts(params.points, model.n_layers * model.n_heads)
    ask = forward_flop(model, NOMINAL_TOKENS, 1) * params.n_test
    at_once = fitting(len(tried), ask, len(tried))
    works = []
    for points in blocks(range(len(tried)), at_once):
        piece = Piece(f"chosen/{_span(points)}", "Heads opened by facilitation", weight=ask * len(points))
        works.append(Work(piece, "chosen", points))
    needs = tuple(work.piece.key for work in works)
    widest = max((b - a for a, b in pairwise(tried)), default=1)
    steps = max(1, math.ceil(math.log2(max(widest, 2))))
    works.append(Work(Piece("narrow", "Narrowing down the fewest heads", needs, ask * steps), "narrow"))
    inner = range(1, len(tried) - 1)
    for order in range(params.orders):
        for points in blocks(inner, at_once):
            words = f"Heads opened at random, order {order + 1} of {params.orders}"
            piece = Piece(f"random/{order}/{_span(points)}", words, weight=ask * len(points))
            works.append(Work(piece, "random", points, order))
    return works


def _span(block: range) -> str:
    return f"{block.start}-{block.stop - 1}"
