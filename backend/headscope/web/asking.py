"""From a request's words to a run that could be started: model, task and parameters looked up and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from headscope.analyses.base import Estimate
from headscope.analyses.request import Request, find, resolve
from headscope.core.model import ModelInfo
from headscope.errors import Refused
from headscope.store.tables import Run
from headscope.store.tasks import load_user_tasks
from headscope.tasks.catalogue import TaskCatalogue
from headscope.tasks.task import Task
from headscope.web.schemas import RunIn

if TYPE_CHECKING:
    from headscope.web.deps import Services


def task_catalogue(session: Session) -> TaskCatalogue:
    """All tasks, the uploaded ones as they are stored now."""
    return TaskCatalogue(load_user_tasks(session))


def ask(app: Services, session: Session, body: RunIn) -> tuple[Request, Estimate]:
    """The run that a request means, and what it will take.

    Raises ``NotFound`` (unknown-analysis, unknown-model, unknown-task), ``Invalid`` (unknown-preset,
    unknown-parameter, invalid-parameter, task-missing, rows of no use) and ``Unavailable`` (model-not-fetched).
    """
    find(body.analysis)
    model = known_model(app, body.model)
    task = task_catalogue(session).get(body.task) if body.task is not None else None
    request = resolve(body.analysis, model, task, body.preset, body.params)
    return request, _estimate(app, request, task)


def ask_again(app: Services, session: Session, run: Run) -> tuple[Request, Estimate]:
    """The same for a run there is; ``Refused`` (inputs-changed) where its model or task is another one now."""
    body = RunIn(analysis=run.analysis, model=run.model, task=run.task, params=run.params)
    request, estimate = ask(app, session, body)
    if request.id != run.id:
        raise Refused(
            "The model, the task or the analysis has changed since this run, so it can't be computed again.",
            "Start a new run with the same settings and compare the two.",
            code="inputs-changed",
        )
    return request, estimate


def known_model(app: Services, name: str) -> ModelInfo:
    """A model of the catalogue. Paths are for the command line: over HTTP nobody names folders."""
    app.models.get(name)
    return app.models.info(name)


def _estimate(app: Services, request: Request, task: Task | None) -> Estimate:
    tokenizer = app.models.tokenizer(request.model.name)
    return find(request.analysis).estimate(request.parsed, request.model, task, tokenizer=tokenizer)
