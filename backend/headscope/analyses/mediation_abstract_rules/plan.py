"""How a run is cut: for each way to swap, pairs are tried until enough are kept, then patched.

``screen/s/a-b`` asks both contexts of candidates a to b - 1; a block is empty once earlier ones kept enough.
``scores/s/a-b`` patches every head in the pairs kept, number a to b - 1: for swapped rules at the examples'
third items and at the last token, for swapped items at the last token.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from headscope.analyses.cutting import blocks, fitting
from headscope.analyses.legacy import Piece
from headscope.analyses.mediation_abstract_rules.schema import KINDS, SWAPPED, AbstractRuleParams
from headscope.analyses.patch_effects import patched_flop
from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo
from headscope.tasks.rule_pairs import Swapped

_WORDS = {"rule": "rules swapped", "items": "items swapped"}


@dataclass(frozen=True)
class Work:
    """A piece and what it is for: a range of candidates, or of the pairs kept. ``last``: the way's last."""

    piece: Piece
    kind: Literal["screen", "scores"]
    swapped: Swapped
    block: range
    last: bool = False


def context_tokens(params: AbstractRuleParams) -> int:
    """Six tokens an example, four the question, where ^ and a line's end are one token each."""
    return 6 * params.shots + 4


def scores_flop(params: AbstractRuleParams, model: ModelInfo, swapped: Swapped) -> float:
    """A pair's patches: z of the base context read once, then each kind's own pass."""
    tokens = context_tokens(params)
    widths = [tokens - 4 if kind.place == "third" else 1 for kind in KINDS if kind.swapped == swapped]
    return forward_flop(model, tokens, 1) + sum(patched_flop(model, tokens, width) for width in widths)


def plan(params: AbstractRuleParams, model: ModelInfo) -> list[Work]:
    """All pieces in the order they are computed."""
    return [work for swapped in SWAPPED for work in _of_swap(params, model, swapped)]


def _of_swap(params: AbstractRuleParams, model: ModelInfo, swapped: Swapped) -> Iterator[Work]:
    needs: tuple[str, ...] = ()
    flop = 2 * forward_flop(model, context_tokens(params), 1)
    for block in blocks(range(params.candidates), fitting(params.candidates, flop, params.candidates)):
        label = f"Pairs with {_WORDS[swapped]} asked"
        piece = Piece(f"screen/{swapped}/{_span(block)}", label, needs, flop * len(block))
        needs = (*needs, piece.key)
        yield Work(piece, "screen", swapped, block, block.stop == params.candidates)
    flop = scores_flop(params, model, swapped)
    for block in blocks(range(params.pairs), fitting(params.pairs, flop, params.pairs)):
        label = f"Heads patched, {_WORDS[swapped]}"
        piece = Piece(f"scores/{swapped}/{_span(block)}", label, needs, flop * len(block))
        yield Work(piece, "scores", swapped, block, block.stop == params.pairs)


def _span(block: range) -> str:
    return f"{block.start}-{block.stop - 1}"
