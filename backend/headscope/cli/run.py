"""``headscope run``: compute an analysis here and now, with progress, into the same store as the pages."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headscope.cli import console
from headscope.cli.progress import progress_bar

if TYPE_CHECKING:
    from headscope.analyses.request import Request
    from headscope.models.catalogue import Catalogue
    from headscope.settings import Settings
    from headscope.store.session import Store


def run(
    analysis: Annotated[str, typer.Argument(help="Which analysis, e.g. chg.")],
    model: Annotated[str, typer.Option(help="A model's name, or a path to its folder.")],
    task: Annotated[str | None, typer.Option(help="A task's name.")] = None,
    preset: Annotated[str | None, typer.Option(help="A named set of parameters: quick, paper.")] = None,
    param: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Set one parameter; can be repeated.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the result here; - is stdout.")
    ] = None,
) -> None:
    """Compute an analysis here and now, keep it in the store and write its result."""
    from headscope.cli.store import opened
    from headscope.models.catalogue import Catalogue

    settings = console.settings()
    models = Catalogue(settings)
    with opened(settings) as store:
        request = resolve(store, models, analysis, model, task, preset, parameters(param or []))
        run_id = compute(settings, store, models, request)
        _write(store, run_id, json_file)


def parameters(words: list[str]) -> dict[str, Any]:
    """``["steps=60"]`` as values: JSON where it is JSON, else text. ``Invalid`` without an =."""
    from headscope.errors import Invalid

    values: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise Invalid(
                f"--param {word} isn't NAME=VALUE.", "Write e.g. --param steps=60.", code="bad-parameter"
            )
        try:
            values[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            values[name.strip()] = value
    return values


def resolve(
    store: Store,
    models: Catalogue,
    analysis: str,
    model: str,
    task: str | None,
    preset: str | None,
    params: dict[str, Any],
) -> Request:
    """Validate what was asked for and name it; raises ``NotFound`` and ``Invalid``."""
    from headscope.analyses.base import handed
    from headscope.analyses.request import find, resolve
    from headscope.store.references import look_up
    from headscope.store.tasks import load_user_tasks
    from headscope.tasks.catalogue import TaskCatalogue

    chosen = find(analysis)
    with store.session() as session:
        known = TaskCatalogue(load_user_tasks(session))
        asked = known.get(task) if task else None
        request = resolve(analysis, models.info(model), asked, preset, params)
        inputs = look_up(session, chosen, request.params, request.model)
    # What can't be computed is refused here, before there is a run: too long for the context, say.
    handed_over = handed(chosen, inputs)
    chosen.estimate(request.parsed, request.model, asked, tokenizer=models.tokenizer(model), **handed_over)
    return request


def compute(settings: Settings, store: Store, models: Catalogue, request: Request) -> str:
    """Compute a request unless it is done already; returns the run's id."""
    from headscope.jobs.engine import run_foreground
    from headscope.store import runs

    err = console.err_console()
    with store.session() as session:
        submitted = runs.create_or_get(session, request, queue=None)
        if submitted.run.status == "done":
            err.print(
                f"Run {request.id} was computed before; `headscope serve` shows it at /runs/{request.id}."
            )
            return request.id
    err.print(
        f"{request.title} · {request.model.name} · {request.task_title or 'no task'} · run {request.id}"
    )
    with progress_bar() as report:
        run_foreground(store, request.id, models, report, settings=settings)
    return request.id


def _write(store: Store, run_id: str, file: Path | None) -> None:
    from headscope.errors import Unavailable
    from headscope.store import runs

    with store.session() as session:
        found = runs.get(session, run_id)
        headline, took = found.headline or {}, found.wall_seconds
        result = runs.result_json(session, run_id)
    err = console.err_console()
    if took is not None:
        err.print(f"Computed in {took:.1f} s.")
    for name, value in headline.items():
        err.print(f"  {name.replace('_', ' ')}: {_number(value)}")
    if file is None:
        err.print(f"`headscope serve` shows it at /runs/{run_id}; `headscope export {run_id}` writes it.")
        return
    text = json.dumps(result, indent=1) + "\n"
    if str(file) == "-":
        sys.stdout.write(text)
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Unavailable(
            f"{file} can't be written: {error.strerror}.",
            f"The run is kept: headscope export {run_id} --format json -o FILE.",
            code="file-unwritable",
        ) from error
    err.print(f"Result in {file}.")


def _number(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
