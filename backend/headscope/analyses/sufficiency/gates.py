"""The sufficient heads as gates, to keep and to try on a prompt."""

from __future__ import annotations

from headscope.analyses.base import Result
from headscope.analyses.offered_gates import GatePreset as Preset
from headscope.errors import Refused


def sufficient_heads(result: Result) -> Preset:
    """The subset open and all other heads shut; ``Refused`` (no-gates) where no number of heads suffices."""
    fewest = result.values["fewest"]
    if fewest is None:
        raise Refused(
            "No heads suffice: the model as it is does no better than with all heads closed.",
            "Choose a task that the model can do.",
            code="no-gates",
        )
    reading = (
        f"{fewest} of {result.values['n_heads']} heads open, all others shut: they keep "
        f"{100 * result.values['kept']:.0f} % of the log-probability gained."
    )
    return Preset("sufficient", "Sufficient heads", reading, result.arrays["subset"], of_seeds=False)
