"""``headscope models``: which models there are and whether their weights are here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from headscope.cli import console

app = typer.Typer(help="Models: list, fetch, add.", no_args_is_help=True)


@app.command("list")
def list_models(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """List the models and whether their weights are here."""
    from rich.table import Table

    from headscope.models.catalogue import Catalogue

    entries = Catalogue(console.settings()).all()
    if as_json:
        console.write_json([_described(entry) for entry in entries])
        return
    table = Table("model", "title", "from", "here", "licence", box=None, pad_edge=False)
    for entry in entries:
        here = "yes" if entry.ready else f"no: {entry.remedy}"
        table.add_row(entry.name, entry.title, entry.source, here, entry.licence)
    console.out_console().print(table)


@app.command("fetch")
def fetch(
    name: Annotated[str, typer.Argument(help="smollm2-135m, or ORG/NAME on the Hugging Face hub.")],
) -> None:
    """Get a model's weights; does nothing where they are here already."""
    from headscope.models.catalogue import Catalogue

    os.environ.setdefault("TQDM_DISABLE", "1")  # the libraries' own bars would run through ours
    catalogue = Catalogue(console.settings())
    with _download() as report:
        folder = catalogue.fetch(name, report)
    console.err_console().print(f"{name} is in {folder}.")


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Its name.")],
    folder: Annotated[
        Path, typer.Argument(help="Folder with config.json, tokenizer.json and *.safetensors.")
    ],
) -> None:
    """Register a folder of weights under a name."""
    from headscope.models.catalogue import Catalogue

    entry = Catalogue(console.settings()).add(name, folder)
    console.err_console().print(f"{entry.name} is added: {entry.title}.")


@contextmanager
def _download() -> Iterator[Callable[..., None]]:
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=console.err_console(), transient=True) as bar:
        line = bar.add_task("looking", total=None)

        def report(phase: str, done: float | None = None, total: float | None = None) -> None:
            bar.update(line, description=phase, completed=done, total=total)

        yield report


def _described(entry: Any) -> dict[str, Any]:
    fields = ("name", "title", "source", "ready", "remedy", "summary", "licence")
    return {field: getattr(entry, field) for field in fields}
