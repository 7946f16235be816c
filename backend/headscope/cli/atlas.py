"""``headscope atlas``: the results that ship with Headscope."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headscope.cli import console

app = typer.Typer(help="The results that ship with Headscope.", no_args_is_help=True)


@app.callback()
def _atlas() -> None:
    """The results that ship with Headscope."""


@app.command("build")
def build(
    only: Annotated[list[str] | None, typer.Option(help="Only these: MODEL/TASK; can be repeated.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder; the package's own else.")
    ] = None,
) -> None:
    """Compute the shipped results anew. Takes long."""
    from headscope.gallery.build import build as compute

    compute(console.settings(), only=only, folder=output)
