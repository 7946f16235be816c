"""The sufficient heads as gates, to keep and to try on a prompt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headscope.analyses.offered_gates import AskedGates, GatePreset
from headscope.analyses.sufficiency.result import SufficiencyResult
from headscope.core.model.head_list import Head
from headscope.errors import Refused
from headscope.figures.view import View


def offered(result: SufficiencyResult, asked: AskedGates) -> Sequence[GatePreset]:
    """The subset open and all other heads shut; ``Refused`` (no-gates) where no number of heads suffices."""
    if result.fewest is None or result.kept is None:
        raise Refused(
            "No heads suffice: the ungated model does no better than with all heads closed.",
            "Choose a task that the model can do.",
            code="no-gates",
        )
    reading = (
        f"{result.fewest} of {result.n_heads} heads open, all others shut: they keep "
        f"{100 * result.kept:.0f} % of the log-probability gained."
    )
    return [GatePreset("sufficient", "Sufficient heads", reading, result.subset, of_seeds=False)]


def opened(result: SufficiencyResult, view: View) -> Sequence[Head]:
    """The heads that suffice; none where no number does."""
    return [(layer, head) for layer, head in np.argwhere(result.subset > 0).tolist()]
