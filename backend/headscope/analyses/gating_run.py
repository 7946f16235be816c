"""The causal head gating run that a parameter names, for analyses that go on from its heads."""

from __future__ import annotations

from typing import Any

from headscope.analyses.base import Spec
from headscope.analyses.chg.result import ChgResult
from headscope.errors import Invalid


def gating_run(spec: Spec[Any], param: str) -> ChgResult:
    """``Invalid``: run-missing where none is named; nothing-fitted where all its seeds failed."""
    run = spec.needed(param, ChgResult)
    if not run.ran.any():
        raise Invalid("No seed of the run named has a fit.", "Name another run.", code="nothing-fitted")
    return run
