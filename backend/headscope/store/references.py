"""What a run's parameters name: an earlier run, prompts, gates, tasks.

Looked up when a run is asked for, so that a wrong id is said at once, and again when it is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from headscope.analyses.base import Analysis, Input, Reference, Result
from headscope.analyses.request import named_tasks
from headscope.core.model.info import ModelInfo
from headscope.errors import HeadscopeError, Invalid, Refused
from headscope.store import gates, prompts, runs
from headscope.store.tasks import load_user_tasks
from headscope.tasks.catalogue import TaskCatalogue


def look_up(
    session: Session, analysis: Analysis[Any], params: Mapping[str, Any], model: ModelInfo
) -> dict[str, Input]:
    """What each parameter in ``analysis.references`` names; parameters without a value are left out.

    Raises ``NotFound`` (unknown-run, unknown-prompt, unknown-gates, unknown-task), ``Refused``
    (run-not-done), ``Invalid`` (other-model) where a run or gates belong to other weights than the model's.
    """
    found: dict[str, Input] = dict(_tasks(session, analysis, params))
    for name, kind in analysis.references.items():
        value = params.get(name)
        if value is None or kind in ("task", "tasks"):
            continue
        try:
            found[name] = _one(session, kind, str(value), model)
        except HeadscopeError as error:
            raise type(error)(f"{name}: {error.message}", error.remedy, code=error.code) from error
    return found


def _tasks(session: Session, analysis: Analysis[Any], params: Mapping[str, Any]) -> dict[str, Input]:
    kinds = analysis.references
    if not {"task", "tasks"} & set(kinds.values()):
        return {}
    named = named_tasks(analysis, params, TaskCatalogue(load_user_tasks(session)))
    return {name: tasks[0] if kinds[name] == "task" else tasks for name, tasks in named.items()}


def _one(session: Session, kind: Reference, value: str, model: ModelInfo) -> Input:
    if kind == "prompts":
        return prompts.load(session, value)
    if kind == "gates":
        vector = gates.load(session, value)
        vector.check_model(model)
        return vector
    return _finished(session, value, model)


def _finished(session: Session, run_id: str, model: ModelInfo) -> Result:
    run = runs.get(session, run_id)
    if run.partial:
        raise Refused(
            f"Run {run_id} was stopped before its end, and what it has may still grow: it is {run.status}.",
            "Start it again and name it when it is done.",
            code="run-not-done",
        )
    if run.result_id is None:
        raise Refused(
            f"Run {run_id} has no result: it is {run.status}.",
            "Name a run that is done.",
            code="run-not-done",
        )
    result = runs.result(session, run_id)
    if (result.model.name, result.model.revision) != (model.name, model.revision):
        raise Invalid(
            f"Run {run_id} is of {result.model.name}, not of {model.name} as it is here.",
            f"Name a run of {model.name}.",
            code="other-model",
        )
    return result
