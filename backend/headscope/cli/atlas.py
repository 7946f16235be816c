"""``headscope atlas``: the results that ship with Headscope."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headscope.cli import console
from headscope.python.progress import progress_bar

if TYPE_CHECKING:
    from headscope.analyses.base import Progress

app = typer.Typer(help="The results that ship with Headscope.", no_args_is_help=True)


@app.callback()
def _atlas() -> None:
    """The results that ship with Headscope."""


@app.command("build")
def build(
    only: Annotated[
        list[str] | None, typer.Option(help="Only these: MODEL/TASK, ANALYSIS/MODEL; can be repeated.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Output folder; the package's own by default.")
    ] = None,
) -> None:
    """Recompute the shipped results. Slow."""
    from headscope.gallery.build import ListedRun
    from headscope.gallery.build import build as compute

    err = console.err_console()
    with progress_bar() as report:

        def told(entry: ListedRun, progress: Progress) -> None:
            report(replace(progress, phase=f"{entry.name} · {progress.phase}"))

        written = compute(console.settings(), on_progress=told, only=only, folder=output)
    for path in written:
        err.print(f"Wrote {path} ({path.stat().st_size:,} bytes).")
