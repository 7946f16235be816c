"""How an agreement run is cut: the comparison, then a piece for each head in dispute."""

from __future__ import annotations

from typing import Final

from headscope.analyses.agreement.schema import AgreementParams
from headscope.analyses.base import Piece
from headscope.analyses.held_out import NOMINAL_TOKENS
from headscope.core.cost import forward_flop
from headscope.core.model import ModelInfo

COMPARE: Final = "compare"

CURVE: Final = (0.0, 0.2, 0.4, 0.6, 0.8)
"""Gates at which a head's curve is taken."""
ALL_PARTNERS: Final = 64
"""Up to so many heads, every pair is tried."""
MINUS_SEEDS: Final = 3
"""Seeds under whose G- a head is closed."""


def plan(params: AgreementParams, model: ModelInfo) -> list[Piece]:
    """``compare``, then ``explain/i`` for the head in place i of the list; empty where it is shorter."""
    weight = forward_flop(model, NOMINAL_TOKENS, 1) * params.n_examples * ways(params, model)
    pieces = [Piece(COMPARE, "Comparing", weight=weight / 100)]
    for place in range(explained(params, model)):
        label = f"Why they disagree, head {place + 1}"
        pieces.append(Piece(f"explain/{place}", label, (COMPARE,), weight))
    return pieces


def explained(params: AgreementParams, model: ModelInfo) -> int:
    """How many heads are explained at most."""
    return min(params.most, model.n_layers * model.n_heads)


def ways(params: AgreementParams, model: ModelInfo) -> float:
    """Passes of an example for one head; those that begin at a layer count half on average."""
    heads = model.n_layers * model.n_heads
    pairs = heads - 1 if heads <= ALL_PARTNERS else min(params.partners, heads - 1)
    resumed = 1 + model.n_layers + model.n_heads + len(CURVE) + 2 * pairs + 2 * MINUS_SEEDS
    return 6 + resumed / 2
