"""What a run's parameters name: an earlier run, prompts, gates, tasks.

Looked up when a run is asked for, so that a wrong id is said at once, and again when it is computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from headscope.analyses.base import Analysis, Input, Reference, Result
from headscope.analyses.references import RunRef, TasksRef, check_needed
from headscope.analyses.request import named_tasks
from headscope.core.model.info import ModelInfo
from headscope.errors import HeadscopeError, Invalid, Refused
from headscope.store import gates, prompts, runs
from headscope.store.tasks import load_user_tasks
from headscope.tasks.catalogue import TaskCatalogue
from headscope.tasks.task import Task


def look_up(
    session: Session,
    analysis: Analysis[Any, Any],
    params: Mapping[str, Any],
    model: ModelInfo,
    task: Task | None,
) -> dict[str, Input]:
    """What each of the analysis' references leads to; parameters without a value are left out.

    Raises ``NotFound`` (unknown-run, unknown-prompt, unknown-gates, unknown-task); ``Refused``
    (run-not-done); ``Invalid``: other-model where a run or gates belong to other weights than the model's,
    what ``references.check_needed`` and ``RunRef.check`` do.
    """
    found: dict[str, Input] = dict(_tasks(session, analysis, params))
    for name, reference in analysis.references.items():
        value = params.get(name)
        if value is None or isinstance(reference, TasksRef):
            continue
        try:
            found[name] = _one(session, reference, str(value), model, task)
        except HeadscopeError as error:
            raise error.about(name) from error
    check_needed(analysis.title, analysis.references, found)
    return found


def _tasks(session: Session, analysis: Analysis[Any, Any], params: Mapping[str, Any]) -> dict[str, Input]:
    known = analysis.references
    if not any(isinstance(reference, TasksRef) for reference in known.values()):
        return {}
    named = named_tasks(analysis, params, TaskCatalogue(load_user_tasks(session)))
    return {name: tasks[0] if known[name].kind == "task" else tasks for name, tasks in named.items()}


def _one(session: Session, reference: Reference, value: str, model: ModelInfo, task: Task | None) -> Input:
    if isinstance(reference, RunRef):
        run = _finished(session, value, model)
        reference.check(run, task)
        return run
    if reference.kind == "prompts":
        return prompts.load(session, value)
    vector = gates.load(session, value)
    vector.check_model(model)
    return vector


def _finished(session: Session, run_id: str, model: ModelInfo) -> Result:
    run = runs.get(session, run_id)
    if run.partial:
        raise Refused(
            f"Run {run_id} is {run.status}, so its result may still change.",
            "Restart it, and name it when it is done.",
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
