"""How an induction run is cut: blocks of draws, then, once the strongest heads are known, their ablations.

1. ``draws/a-b``: those sequences through the model once: every head's scores, every token's loss.
2. ``ablation/a-b/c-d``: the strongest heads number c to d gated off on those sequences, twice each: with all
   patterns held as they were, and free. It needs all draws: the strongest heads are those of the whole run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from headscope.analyses.cutting import blocks, fitting
from headscope.analyses.induction.schema import InductionParams, positions
from headscope.analyses.legacy import Piece
from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo

_MOST_DRAWS = 64


@dataclass(frozen=True)
class Work:
    """A piece and what it is for: ``draws`` index the run's seeds, ``ranks`` the heads by induction."""

    piece: Piece
    draws: range
    ranks: range = range(0)


def plan(params: InductionParams, model: ModelInfo) -> list[Work]:
    """All pieces in the order they are computed. Raises ``Invalid`` (too-long)."""
    tokens = positions(params, model)
    flop = forward_flop(model, tokens, tokens)
    works = list(_draws(params, flop))
    return works + list(_ablations(params, model, flop, tuple(work.piece.key for work in works)))


def ablated(params: InductionParams, model: ModelInfo) -> int:
    """How many heads are gated off: those asked for, or all there are."""
    return min(params.ablate, model.n_layers * model.n_heads)


def _draws(params: InductionParams, flop: float) -> Iterator[Work]:
    for block in blocks(range(params.seeds), fitting(params.seeds, flop, _MOST_DRAWS)):
        piece = Piece(f"draws/{_span(block)}", f"Scores, {_words(params, block)}", weight=flop * len(block))
        yield Work(piece, block)


def _ablations(
    params: InductionParams, model: ModelInfo, flop: float, needs: tuple[str, ...]
) -> Iterator[Work]:
    """A head costs two passes a draw; each piece takes a pass a draw more, for the patterns that are held."""
    count = ablated(params, model)
    if not count:
        return
    at_once = fitting(count, 2 * flop, count)
    draws = fitting(params.seeds, (2 * at_once + 1) * flop, _MOST_DRAWS)
    for block in blocks(range(params.seeds), draws):
        for ranks in blocks(range(count), at_once):
            weight = (2 * len(ranks) + 1) * flop * len(block)
            label = f"Induction heads gated off, {_words(params, block)}"
            piece = Piece(f"ablation/{_span(block)}/{_span(ranks)}", label, needs, weight)
            yield Work(piece, block, ranks)


def _span(block: range) -> str:
    return f"{block.start}-{block.stop - 1}"


def _words(params: InductionParams, block: range) -> str:
    first, last = params.first_seed + block.start, params.first_seed + block.stop - 1
    return f"draw {first}" if first == last else f"draws {first}–{last}"
