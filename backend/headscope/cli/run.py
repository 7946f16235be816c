"""``headscope run``: compute an analysis here and now, with progress, into the same store as the pages."""

from __future__ import annotations

import json
import sys
from collections.abc import Container, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headscope.cli import console
from headscope.python.progress import progress_bar

if TYPE_CHECKING:
    from headscope.analyses.references import Reference
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
    prompts: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Save this file's prompts, and compute the analysis on them."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the result here; - is stdout.")
    ] = None,
) -> None:
    """Compute an analysis here and now, keep it in the store and write its result."""
    from headscope.analyses.request import find
    from headscope.cli.prompts import keep
    from headscope.models.catalogue import Catalogue
    from headscope.store.opening import opened

    settings = console.settings()
    references = find(analysis).references
    params = parameters(param or [], references)
    models = Catalogue(settings)
    with opened(settings) as store:
        if prompts is not None:
            name = _parameter_of_prompts(analysis, references)
            params[name] = keep(settings, prompts).id
        request = resolve(store, models, analysis, model, task, preset, params)
        run_id = compute(settings, store, models, request)
        _write(store, run_id, json_file)


def parameters(words: list[str], verbatim: Container[str] = ()) -> dict[str, Any]:
    """``["steps=60"]`` as values: JSON where it is JSON, else text; ``Invalid`` without an =.

    ``verbatim`` are parameters that hold ids: text also where an id happens to look like a number.
    """
    from headscope.errors import Invalid

    values: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise Invalid(
                f"--param {word} isn't NAME=VALUE.", "Write e.g. --param steps=60.", code="bad-parameter"
            )
        try:
            read = json.loads(value)
        except json.JSONDecodeError:
            read = value
        as_it_is = name.strip() in verbatim and isinstance(read, int | float)
        values[name.strip()] = value if as_it_is else read
    return values


def _parameter_of_prompts(analysis: str, references: Mapping[str, Reference]) -> str:
    """Which parameter holds the prompts' id; ``Invalid`` (no-prompts) for an analysis that reads none."""
    from headscope.errors import Invalid

    for name, reference in references.items():
        if reference.kind == "prompts":
            return name
    raise Invalid(f"{analysis} reads no prompts.", "Leave --prompts out.", code="no-prompts")


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
    from headscope.store import requests

    with store.session() as session:
        request, _ = requests.ask(
            session,
            analysis,
            models.info(model),
            models.tokenizer(model),
            task=task,
            preset=preset,
            params=params,
            proved=models.proofs.get,
        )
    return request


def compute(settings: Settings, store: Store, models: Catalogue, request: Request) -> str:
    """Compute a request unless it is done already; returns the run's id."""
    from headscope.errors import Cancelled
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
    known = [request.title, request.model.name, request.task_title, f"run {request.id}"]
    err.print(" · ".join(word for word in known if word))
    try:
        with progress_bar() as report:
            run_foreground(store, request.id, models, report, settings=settings)
    except (KeyboardInterrupt, Cancelled):
        err.print(_kept(store, request.id))
        raise
    return request.id


def _kept(store: Store, run_id: str) -> str:
    """What a run that was stopped keeps, and how to go on."""
    from headscope.store import runs

    on = "The same command resumes from the last finished piece."
    with store.session() as session:
        run = runs.get(session, run_id)
        result = runs.result(session, run_id) if run.partial else None
    if result is None:
        return on
    whole = f"{len(result.seeds)} of {len(run.seeds)} seeds are complete and saved"
    return f"{whole}: `headscope export {run_id}` writes them. {on}"


def _write(store: Store, run_id: str, file: Path | None) -> None:
    from headscope.analyses.headline import told
    from headscope.errors import Unavailable
    from headscope.store import runs

    with store.session() as session:
        found = runs.get(session, run_id)
        took = found.wall_seconds
        result = runs.result_json(session, run_id)
    err = console.err_console()
    if took is not None:
        err.print(f"Computed in {took:.1f} s.")
    for each in told(found.analysis, found.headline):
        unit = f" {each.unit}" if each.unit in SPOKEN_UNITS else ""
        ends = "" if each.low is None else f" (95 %: {_number(each.low)} to {_number(each.high)})"
        err.print(f"  {each.label}: {_number(each.value)}{unit}{ends}")
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
            f"The run is saved: headscope export {run_id} --format json -o FILE.",
            code="file-unwritable",
        ) from error
    err.print(f"Result in {file}.")


SPOKEN_UNITS = frozenset({"nats", "logits"})


def _number(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
