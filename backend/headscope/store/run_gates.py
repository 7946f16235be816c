"""The gates that a finished run gives, whatever analysis fitted them, and one of them to keep."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from headscope.analyses.base import Result
from headscope.analyses.cchg.presets import presets as contrastive
from headscope.analyses.chg.presets import Preset, presets
from headscope.analyses.sufficiency.gates import sufficient_heads
from headscope.core.gating.gate_vector import GateVector, gate_vector
from headscope.core.model.info import ModelInfo
from headscope.errors import Invalid, NotFound, Refused
from headscope.store import runs
from headscope.store.tables import Run


def of_run(
    session: Session, run: Run, result: Result, seed: int | None = None, threshold: float = 0.5
) -> list[Preset]:
    """What a run of causal head gating, of contrastive gating or of sufficiency gives; ``seed`` None is the
    mean over seeds. Raises ``Refused`` (no-gates), ``NotFound`` (unknown-seed).
    """
    if result.analysis == "cchg":
        return contrastive(result, seed)
    if result.analysis == "sufficiency":
        return [sufficient_heads(result)]
    return presets(result, run.id, seed, threshold, sufficient=_sufficient(session, run))


def take(
    session: Session,
    run: Run,
    model: ModelInfo,
    preset: str | None = None,
    seed: int | None = None,
    threshold: float = 0.5,
) -> GateVector:
    """One of a run's gates, its origin in words; ``preset`` may be left out where there is one alone.

    Raises what ``of_run`` does; ``Refused`` (run-not-done); ``Invalid`` (preset-missing, other-model);
    ``NotFound`` (unknown-preset).
    """
    if run.result_id is None:
        raise Refused(
            f"Run {run.id} has no result: it is {run.status}.", "Name one that is done.", code="run-not-done"
        )
    result = runs.result(session, run.id)
    found = of_run(session, run, result, seed, threshold)
    named = ", ".join(each.name for each in found)
    if preset is None and len(found) > 1:
        raise Invalid(f"Run {run.id} gives several gates.", f"Name one of {named}.", code="preset-missing")
    chosen = next((each for each in found if preset in (None, each.name)), None)
    if chosen is None:
        raise NotFound(
            f"Run {run.id} gives no gates called {preset!r}.", f"It gives {named}.", code="unknown-preset"
        )
    one = len(result.seeds) == 1 or result.analysis == "sufficiency"
    of = f", seed {seed}" if seed is not None else "" if one else ", mean over seeds"
    words = f"{chosen.title}, {run.task}{of}" if run.task else f"{chosen.title}{of}"
    vector = gate_vector(words, result.model, chosen.gates, f"run {run.id}, {chosen.name}{of}")
    vector.check_model(model)
    return vector


def _sufficient(session: Session, run: Run) -> NDArray[np.bool_] | None:
    """The heads that the newest sufficiency run of this run found, where one found any."""
    later, _ = runs.find(session, model=run.model, analysis="sufficiency", status="done", limit=500)
    for each in later:
        if each.params.get("run") == run.id:
            result = runs.result(session, each.id)
            if result.values["fewest"] is not None:
                return result.arrays["subset"] > 0
    return None
