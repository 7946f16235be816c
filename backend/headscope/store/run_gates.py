"""The gates that a finished run gives, whatever analysis fitted them, and one of them to keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy.orm import Session

from headscope.analyses import ANALYSES
from headscope.analyses.ablation import of_run as of_params
from headscope.analyses.base import Result
from headscope.analyses.offered_gates import AskedGates, GatePreset
from headscope.core.gating.gate_vector import GateVector, gate_vector
from headscope.core.model.info import ModelInfo
from headscope.errors import Invalid, NotFound, Refused
from headscope.store import runs
from headscope.store.tables import Run


def of_run(
    session: Session, run: Run, result: Result, seed: int | None = None, threshold: float = 0.5
) -> Sequence[GatePreset]:
    """What the run's analysis says that it offers; ``seed`` None is the mean over seeds.

    Raises ``Refused`` (no-gates), ``NotFound`` (unknown-seed).
    """
    analysis = ANALYSES.get(run.analysis)
    if analysis is None or analysis.gates is None:
        raise Refused(
            f"A run of {run.title.lower()} has no gates.",
            f"Choose a run of {', '.join(name for name, each in ANALYSES.items() if each.gates)}.",
            code="no-gates",
        )
    later = tuple(_later(session, run))
    return analysis.gates(result, AskedGates(run.id, seed, threshold, later))


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
    one = len(result.seeds) == 1 or not chosen.of_seeds
    of = f", seed {seed}" if seed is not None else "" if one else ", mean over seeds"
    words = f"{chosen.title}, {run.task}{of}" if run.task else f"{chosen.title}{of}"
    vector = gate_vector(
        words, result.model, chosen.gates, f"run {run.id}, {chosen.name}{of}", of_params(result.params)
    )
    vector.check_model(model)
    return vector


def _later(session: Session, run: Run) -> Iterator[GatePreset]:
    """What the newest run of each analysis offers whose gates belong among this run's."""
    for name, analysis in ANALYSES.items():
        if analysis.gates is None or analysis.gates_belong_to is None:
            continue
        found, _ = runs.find(session, model=run.model, analysis=name, status="done", limit=500)
        for each in found:
            if each.params.get(analysis.gates_belong_to) == run.id:
                try:
                    yield from analysis.gates(runs.result(session, each.id), AskedGates(each.id))
                    break
                except Refused:  # it found none; an older one may have
                    continue
