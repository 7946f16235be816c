"""How the measures are cut: by blocks of held-out examples, and leave-one-out by layers too."""

from __future__ import annotations

from headscope.analyses import cutting
from headscope.analyses.base import Spec
from headscope.analyses.costing import NOMINAL_TOKENS
from headscope.analyses.cutting import blocks
from headscope.analyses.relatives.result import MOST_NODES
from headscope.analyses.relatives.schema import RelativesParams
from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo

_MOST_EXAMPLES = 512


def gradient_blocks(spec: Spec[RelativesParams]) -> list[range]:
    """Examples whose gradients fit a piece."""
    return list(blocks(range(spec.params.n_examples), _fit(gradient_flop(spec))))


def ablation_blocks(spec: Spec[RelativesParams]) -> list[tuple[range, range]]:
    """Layers and examples whose heads, left out one at a time, fit a piece."""
    each = ablation_flop(spec.model)
    return [
        (layers, block)
        for block in blocks(range(spec.params.n_examples), _fit(max(each)))
        for layers in _consecutive(each, len(block))
    ]


def gradient_flop(spec: Spec[RelativesParams]) -> float:
    """Of an example."""
    return gradient_passes(spec.params) * forward_flop(spec.model, NOMINAL_TOKENS, 1)


def ablation_flop(model: ModelInfo) -> list[float]:
    """Of an example, by layer: the model as it is up to there, and a pass from there for each head."""
    once = forward_flop(model, NOMINAL_TOKENS, 1)
    return [
        once * (1 / model.n_layers + model.n_heads * share_from(model, layer))
        for layer in range(model.n_layers)
    ]


def gradient_passes(params: RelativesParams) -> float:
    """Forward passes that gradients and direct shares take of an example; a backward one counts as one.

    Where the integral is refined, half of the most gradients: some examples take few, others all.
    """
    points = max(params.points, MOST_NODES / 2) if params.refine else params.points
    return 2.0 * (1 + points) + 2.0


def share_from(model: ModelInfo, layer: int) -> float:
    """The share of a pass that is left from this layer on."""
    return (model.n_layers - layer) / model.n_layers


def _fit(flop: float) -> int:
    return max(1, min(_MOST_EXAMPLES, int(cutting.PIECE_FLOP // flop)))


def _consecutive(each: list[float], examples: int) -> list[range]:
    """Consecutive layers whose work together fits a piece."""
    found, start, work = [], 0, 0.0
    for index, flop in enumerate(each):
        if index > start and work + flop * examples > cutting.PIECE_FLOP:
            found.append(range(start, index))
            start, work = index, 0.0
        work += flop * examples
    return [*found, range(start, len(each))]
