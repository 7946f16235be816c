"""What explaining a head in dispute takes, in passes of an example; a pass from a layer on counts half."""

from __future__ import annotations

from typing import Final

from headscope.analyses.agreement.schema import AgreementParams
from headscope.analyses.base import Spec
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.chg.schema import ChgParams

CURVE: Final = (0.0, 0.2, 0.4, 0.6, 0.8)
"""Gates at which a head's curve is taken."""
ALL_PARTNERS: Final = 64
"""Up to so many heads, every pair is tried."""
MINUS_SEEDS: Final = 3
"""Seeds under whose G- a head is closed."""


def explained(spec: Spec[AgreementParams]) -> int:
    """How many heads are explained at most."""
    return min(spec.params.most, spec.model.n_layers * spec.model.n_heads)


def ways(spec: Spec[AgreementParams]) -> float:
    """Passes of an example for the evidence about one head."""
    model, heads = spec.model, spec.model.n_layers * spec.model.n_heads
    pairs = heads - 1 if heads <= ALL_PARTNERS else min(spec.params.partners, heads - 1)
    resumed = 1 + model.n_layers + model.n_heads + len(CURVE) + 2 * pairs + 2 * MINUS_SEEDS
    return 6 + resumed / 2


def refit_passes(gating: ChgResult) -> int:
    """Passes of an example in one fit, at most; a backward to the gates costs as much as a forward."""
    fit = ChgParams.model_validate(gating.params)
    return 2 * fit.steps * fit.batch_size
