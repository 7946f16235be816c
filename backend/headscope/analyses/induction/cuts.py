"""How an induction run is cut: by draws, and the heads that are gated off by their rank too."""

from __future__ import annotations

from headscope.analyses.base import Spec
from headscope.analyses.cutting import blocks, fitting
from headscope.analyses.induction.schema import InductionParams, positions
from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo

_MOST_DRAWS = 64


def draw_blocks(spec: Spec[InductionParams]) -> list[range]:
    """Draws, by their place among the run's seeds."""
    seeds = spec.params.seeds
    return list(blocks(range(seeds), fitting(seeds, draw_flop(spec), _MOST_DRAWS)))


def ablation_blocks(spec: Spec[InductionParams]) -> list[tuple[range, range]]:
    """Draws, and the ranks of heads that are gated off on them; none where no head is."""
    count = ablated(spec.params, spec.model)
    if not count:
        return []
    seeds, flop = spec.params.seeds, draw_flop(spec)
    at_once = fitting(count, 2 * flop, count)
    draws = fitting(seeds, (2 * at_once + 1) * flop, _MOST_DRAWS)
    return [
        (block, ranks) for block in blocks(range(seeds), draws) for ranks in blocks(range(count), at_once)
    ]


def draw_flop(spec: Spec[InductionParams]) -> float:
    """Of a pass of one draw. Raises ``Invalid`` (too-long)."""
    tokens = positions(spec.params, spec.model)
    return forward_flop(spec.model, tokens, tokens)


def ablated(params: InductionParams, model: ModelInfo) -> int:
    """How many heads are gated off: those asked for, or all there are."""
    return min(params.ablate, model.n_layers * model.n_heads)
