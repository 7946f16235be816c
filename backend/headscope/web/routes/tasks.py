"""Tasks: what models are asked. Uploads are checked row by row before anything is kept."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Query, Response, UploadFile

from headscope.errors import Refused
from headscope.messages import TaskAccuracyOut, TokenOut
from headscope.store import tasks as stored
from headscope.tasks.forms import form_of
from headscope.tasks.preview import preview
from headscope.tasks.stored import to_json
from headscope.tasks.task import Example, Split
from headscope.tasks.upload import parse_upload
from headscope.web.deps import App, StoreSession
from headscope.web.limits import read_upload
from headscope.web.present import task_out
from headscope.web.resolve import known_model, task_catalogue
from headscope.web.schemas import ExampleOut, TaskExamplesOut, TaskOut

router = APIRouter(prefix="/tasks", tags=["tasks"])


@router.get("", summary="Tasks, built in and uploaded")
def list_tasks(session: StoreSession) -> list[TaskOut]:
    """Built-in tasks first."""
    return [task_out(task) for task in task_catalogue(session).all()]


@router.post("", status_code=201, summary="Upload a task as JSONL or CSV")
def upload_task(
    app: App,
    session: StoreSession,
    response: Response,
    file: Annotated[
        UploadFile,
        "JSONL, or CSV with any separator: prompt, target and, where there is one, counterfactual.",
    ],
    name: Annotated[
        str, Form(max_length=64, description="How URLs and commands call it: a-z, 0-9 and hyphens.")
    ],
    title: Annotated[str, Form(max_length=200)] = "",
    description: Annotated[str, Form(max_length=4000)] = "",
    source: Annotated[str, Form(max_length=1000)] = "",
    licence: Annotated[str, Form(max_length=200)] = "",
    template: Annotated[
        str | None,
        Form(max_length=4000, description="E.g. `Q: {prompt}\\nA: {target}`; a plain one where unset."),
    ] = None,
    separator: Annotated[str, Form(max_length=100, description="Between in-context examples.")] = "\n\n",
    shots: Annotated[
        int | None, Form(ge=0, le=64, description="In-context examples before the question.")
    ] = None,
    instruction: Annotated[
        str, Form(max_length=2000, description="Asks for the same in words: a second form, NAME-instruction.")
    ] = "",
) -> TaskOut:
    """413 for too large a file, 422 for one that can't be a task (naming the line), 409 for a name in use."""
    limit = app.settings.max_upload_bytes
    content = read_upload(file, limit)
    task = parse_upload(
        name,
        file.filename or "upload",
        content,
        title=title,
        description=description,
        source=source,
        licence=licence,
        template=template,
        separator=separator,
        shots=shots,
        instruction=instruction,
        taken=[kept.name for kept in task_catalogue(session).all()],
        max_bytes=limit,
    )
    stored.add(session, task.name, to_json(task))
    response.headers["Location"] = f"/api/v1/tasks/{task.name}"
    return task_out(task)


@router.get("/{name}", summary="One task")
def get_task(name: str, session: StoreSession) -> TaskOut:
    """404 for an unknown one, naming similar ones."""
    return task_out(task_catalogue(session).get(name))


@router.delete("/{name}", status_code=204, summary="Delete an uploaded task")
def delete_task(name: str, session: StoreSession) -> None:
    """Runs that used it stay; its instruction form goes with it. 409 for a built-in task, and for a form."""
    task = task_catalogue(session).get(name)
    if form_of(task):
        raise Refused(
            f"{name} is the instruction form of {form_of(task)}.",
            f"Delete {form_of(task)}: both go.",
            code="task-form",
        )
    if task.origin == "built-in":
        raise Refused(
            f"{name} is built in.", "Only tasks that were uploaded can be deleted.", code="task-built-in"
        )
    stored.remove(session, name)


@router.get("/{name}/examples", summary="Rendered examples as tokens, targets marked")
def task_examples(
    name: str,
    model: str,
    app: App,
    session: StoreSession,
    split: Split = "train",
    limit: Annotated[int, Query(ge=1, le=100)] = 5,
) -> TaskExamplesOut:
    """As the model reads them; rows too long for its context are counted, not shown."""
    task = task_catalogue(session).get(name)
    info = known_model(app, model)
    tokenizer = app.models.tokenizer(model)
    examples, n_train, n_test = preview(task, tokenizer, split, limit, n_ctx=info.n_ctx)

    def shown(ids: tuple[int, ...]) -> list[TokenOut]:
        return [TokenOut.of(token) for token in tokenizer.sequence(ids)]

    def example_out(example: Example) -> ExampleOut:
        wrong = example.counterfactual
        return ExampleOut(
            tokens=shown(example.tokens),
            targets=list(example.targets),
            counterfactual=None if wrong is None else shown(wrong),
        )

    return TaskExamplesOut(
        task=name,
        model=model,
        split=split,
        n_train=n_train,
        n_test=n_test,
        n_left_out=examples.n_left_out,
        examples=[example_out(example) for example in examples],
    )


@router.get("/{name}/accuracy", summary="How the model does on the task without gates")
def task_accuracy(name: str, model: str, app: App) -> TaskAccuracyOut:
    """Computed by a worker once and kept; ask again while its status is `computing`."""
    with app.store.session() as session:
        task = task_catalogue(session).get(name)
    return app.workers.accuracy(known_model(app, model), task)
