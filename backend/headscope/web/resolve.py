"""From a request's words to a run that could be started: model, task and parameters looked up and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from sqlalchemy.orm import Session

from headscope.analyses.base import Estimate
from headscope.analyses.request import Request
from headscope.core.gating.gate_vector import gate_table
from headscope.core.model.info import ModelInfo
from headscope.errors import NotFound, Refused
from headscope.messages import LabIn
from headscope.models.catalogue import ModelEntry
from headscope.store import prompts, requests
from headscope.store.tables import Run
from headscope.store.tasks import load_user_tasks
from headscope.tasks.catalogue import TaskCatalogue
from headscope.web.schemas import RunIn

if TYPE_CHECKING:
    from headscope.web.deps import Services

Asked = TypeVar("Asked", bound=LabIn)


def task_catalogue(session: Session) -> TaskCatalogue:
    """All tasks, the uploaded ones as they are stored now."""
    return TaskCatalogue(load_user_tasks(session))


def ask(app: Services, session: Session, body: RunIn) -> tuple[Request, Estimate]:
    """The run that a request means, and what it will take.

    Raises what ``store.requests.ask`` does, ``NotFound`` (unknown-model), ``Unavailable``
    (model-not-fetched).
    """
    model = known_model(app, body.model)
    return requests.ask(
        session,
        body.analysis,
        model,
        app.models.tokenizer(model.name),
        task=body.task,
        preset=body.preset,
        params=body.params,
        proved=app.models.proofs.get,
    )


def ask_again(app: Services, session: Session, run: Run) -> tuple[Request, Estimate]:
    """The same for a run there is; ``Refused`` (inputs-changed) where its model or task has changed."""
    body = RunIn(analysis=run.analysis, model=run.model, task=run.task, params=run.params)
    request, estimate = ask(app, session, body)
    if request.id != run.id:
        raise Refused(
            "The model, the task or the analysis has changed since: this run can't be computed again.",
            "Start a new run with the same settings and compare the two.",
            code="inputs-changed",
        )
    return request, estimate


def with_text(app: Services, body: Asked) -> Asked:
    """A lab's request as a worker takes it: with the stored prompt's text in place of its id.

    Gates are checked here, so that wrong ones wait for no worker. Raises ``NotFound`` (unknown-model,
    unknown-prompt, unknown-row), ``Unavailable`` (model-not-fetched), ``Invalid`` (bad-gates).
    """
    info = known_model(app, body.model)
    gates = getattr(body, "gates", None)
    if gates is not None:
        gate_table(gates, info)
    if body.prompt is None:
        return body
    with app.store.session() as session:
        texts = prompts.load(session, body.prompt).texts
    if body.row >= len(texts):
        raise NotFound(
            f"There is no row {body.row}: the prompt {body.prompt} has {len(texts)}.",
            f"Rows run 0-{len(texts) - 1}.",
            code="unknown-row",
        )
    return body.model_copy(update={"text": texts[body.row], "prompt": None, "row": 0})


def known_entry(app: Services, name: str) -> ModelEntry:
    """A model by its name. Over HTTP nobody names folders: paths, which the command line takes, are unknown.

    Raises ``NotFound`` (unknown-model) listing the names.
    """
    entries = app.models.all()
    for entry in entries:
        if entry.name == name:
            return entry
    raise NotFound(
        f"There is no model {name!r}.",
        f"Known: {', '.join(entry.name for entry in entries)}. `headscope models` adds others.",
        code="unknown-model",
    )


def known_model(app: Services, name: str) -> ModelInfo:
    """What identifies a model; ``Unavailable`` (model-not-fetched) where its weights aren't here."""
    return app.models.info(known_entry(app, name).name)
