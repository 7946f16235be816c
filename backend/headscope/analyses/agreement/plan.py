"""How an agreement run is cut: the comparison, then pieces for each head in dispute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from headscope.analyses.agreement.schema import AgreementParams
from headscope.analyses.chg.schema import ChgParams
from headscope.analyses.held_out import NOMINAL_TOKENS
from headscope.analyses.legacy import Piece
from headscope.core.model.cost import forward_flop
from headscope.core.model.info import ModelInfo

COMPARE: Final = "compare"

CURVE: Final = (0.0, 0.2, 0.4, 0.6, 0.8)
"""Gates at which a head's curve is taken."""
ALL_PARTNERS: Final = 64
"""Up to so many heads, every pair is tried."""
MINUS_SEEDS: Final = 3
"""Seeds under whose G- a head is closed."""


def plan(params: AgreementParams, model: ModelInfo, gating: Mapping[str, Any]) -> list[Piece]:
    """``compare``, then for the head in place i of the list ``explain/i`` and ``refit/i/n``, its nth fit;
    empty where the list is shorter, or fewer seeds need the head. ``gating`` are the gating run's parameters.
    """
    forward = forward_flop(model, NOMINAL_TOKENS, 1)
    weight = forward * params.n_examples * ways(params, model)
    fit = forward * (refit_passes(gating) + 3 * params.n_examples)
    pieces = [Piece(COMPARE, "Comparing", weight=weight / 100)]
    for place in range(explained(params, model)):
        pieces.append(Piece(explain_key(place), f"Why they disagree, head {place + 1}", (COMPARE,), weight))
        for number in range(params.refits):
            label = f"Without head {place + 1}, seed {number + 1}"
            pieces.append(Piece(refit_key(place, number), label, (COMPARE,), fit))
    return pieces


def explain_key(place: int) -> str:
    """The piece that explains the head in a place."""
    return f"explain/{place}"


def refit_key(place: int, number: int) -> str:
    """The piece that fits without the head in a place, once more."""
    return f"refit/{place}/{number}"


def refit_passes(gating: Mapping[str, Any]) -> int:
    """Passes of an example in one fit, at most; a backward to the gates costs as much as a forward."""
    fit = ChgParams.model_validate(gating)
    return 2 * fit.steps * fit.batch_size


def explained(params: AgreementParams, model: ModelInfo) -> int:
    """How many heads are explained at most."""
    return min(params.most, model.n_layers * model.n_heads)


def ways(params: AgreementParams, model: ModelInfo) -> float:
    """Passes of an example for one head; those that begin at a layer count half on average."""
    heads = model.n_layers * model.n_heads
    pairs = heads - 1 if heads <= ALL_PARTNERS else min(params.partners, heads - 1)
    resumed = 1 + model.n_layers + model.n_heads + len(CURVE) + 2 * pairs + 2 * MINUS_SEEDS
    return 6 + resumed / 2
