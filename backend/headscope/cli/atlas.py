"""``headscope atlas``: the results that ship with Headscope."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headscope.cli import console
from headscope.python.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headscope.analyses.base import Progress
    from headscope.gallery.build import ListedRun

app = typer.Typer(help="The results that ship with Headscope.", no_args_is_help=True)


@app.callback()
def _atlas() -> None:
    """The results that ship with Headscope."""


@app.command("build")
def build(
    only: Annotated[
        list[str] | None, typer.Option(help="Only these: MODEL/TASK, ANALYSIS/MODEL; can be repeated.")
    ] = None,
    long: Annotated[
        bool, typer.Option("--long", help="The longer fits instead: a real model on all that it can do.")
    ] = False,
    listing: Annotated[
        bool, typer.Option("--list", help="Only list the runs, with what this machine has of each.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Output folder; the package's own by default.")
    ] = None,
) -> None:
    """Recompute the shipped results. Slow; what is finished is kept, and an interrupted run goes on."""
    from headscope.gallery.build import LISTED, states
    from headscope.gallery.build import build as compute
    from headscope.gallery.long import LONG

    listed = LONG if long else LISTED
    if listing:
        for entry, state in states(console.settings(), listed):
            typer.echo(f"{entry.name}\t{state}")
        return
    err = console.err_console()
    with progress_bar() as report:

        def told(entry: ListedRun, progress: Progress) -> None:
            report(replace(progress, phase=f"{entry.name} · {progress.phase}"))

        # Of the longer fits each is built by its name, so that no other file is taken for a stale one.
        names = _of_models_here(LONG) if long and only is None else only
        written = compute(console.settings(), listed, told, only=names, folder=output)
    for path in written:
        err.print(f"Wrote {path} ({path.stat().st_size:,} bytes).")


def _of_models_here(listed: Sequence[ListedRun]) -> list[str]:
    """Names of the runs whose models are fetched; says whose are left out. All, where no model is."""
    from headscope.gallery.build import of_models_here

    here, missing = of_models_here(console.settings(), listed)
    for entry in missing if here else ():
        console.err_console().print(f"Fits of {entry.name} are left out: `{entry.remedy}` brings it here.")
    return [entry.name for entry in here or listed]
