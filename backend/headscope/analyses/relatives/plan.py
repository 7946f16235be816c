"""How the measures are cut: by blocks of held-out examples, and leaving out by layers too.

1. ``slopes/a-b``: losses, slopes at the model as it is and along the path, direct shares of examples a to b.
2. ``left-out/c-d/a-b``: the heads of layers c to d left out one at a time on those examples.
"""

from __future__ import annotations

from dataclasses import dataclass

from headscope.analyses.cutting import PIECE_FLOP, blocks
from headscope.analyses.held_out import NOMINAL_TOKENS
from headscope.analyses.legacy import Piece
from headscope.analyses.relatives.schema import RelativesParams
from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo

_MOST_EXAMPLES = 512


@dataclass(frozen=True)
class Work:
    """A piece and what it is for; ``layers`` is empty for slopes."""

    piece: Piece
    examples: range
    layers: range = range(0)


def plan(params: RelativesParams, model: ModelInfo) -> list[Work]:
    """All pieces in the order they are computed."""
    ask = forward_flop(model, NOMINAL_TOKENS, 1)
    slopes = ask * slope_passes(params)
    layer = [
        ask * (1 / model.n_layers + model.n_heads * passed(model, index)) for index in range(model.n_layers)
    ]
    works = []
    for block in blocks(range(params.n_examples), _fit(slopes)):
        piece = Piece(f"slopes/{_span(block)}", "Slopes of the loss", weight=slopes * len(block))
        works.append(Work(piece, block))
    for block in blocks(range(params.n_examples), _fit(max(layer))):
        for layers in _layers(layer, len(block)):
            weight = sum(layer[index] for index in layers) * len(block)
            words = f"Heads left out, layers {layers.start}–{layers.stop - 1}"
            piece = Piece(f"left-out/{_span(layers)}/{_span(block)}", words, weight=weight)
            works.append(Work(piece, block, layers))
    return works


def slope_passes(params: RelativesParams) -> float:
    """Forward passes that slopes and direct shares take of an example; a backward one counts as one."""
    return 2.0 * (1 + params.points) + 2.0


def passed(model: ModelInfo, layer: int) -> float:
    """The share of a pass that is left from this layer on."""
    return (model.n_layers - layer) / model.n_layers


def _fit(flop: float) -> int:
    return max(1, min(_MOST_EXAMPLES, int(PIECE_FLOP // flop)))


def _layers(each: list[float], examples: int) -> list[range]:
    """Consecutive layers whose work together fits a piece."""
    found, start, work = [], 0, 0.0
    for index, flop in enumerate(each):
        if index > start and work + flop * examples > PIECE_FLOP:
            found.append(range(start, index))
            start, work = index, 0.0
        work += flop * examples
    return [*found, range(start, len(each))]


def _span(block: range) -> str:
    return f"{block.start}-{block.stop - 1}"
