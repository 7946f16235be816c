"""The causal head gating run that a parameter names, for analyses that go on from its heads."""

from __future__ import annotations

from typing import Any

from headscope.analyses.base import Spec
from headscope.analyses.chg.result import ChgResult
from headscope.errors import Invalid, Refused


def check_roles(run: ChgResult) -> None:
    """``Refused`` (steering-map) for a run on a task that the model can't do: its heads have no roles."""
    if run.vocabulary.kind == "steering":
        raise Refused(
            f"The gating run is a steering map: the model {run.ability.words} as it is, so that no head has "
            "a role to compare.",
            "Name a run with more in-context examples (`shots=auto`), or of a task that the model can do.",
            code="steering-map",
        )


def gating_run(spec: Spec[Any], param: str) -> ChgResult:
    """``Invalid``: run-missing where none is named; nothing-fitted where all its seeds failed."""
    run = spec.needed(param, ChgResult)
    if not run.ran.any():
        raise Invalid("No seed of the run named has a fit.", "Name another run.", code="nothing-fitted")
    return run
