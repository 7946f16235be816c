"""``headscope export``: a finished run as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headscope.cli import console, files
from headscope.cli.runs import RunId, complete_id, described


def export(
    run: RunId,
    format: Annotated[  # noqa: A002
        str, typer.Option(help="csv, json, npz, html, ipynb, png, svg, heads, heads.csv or heads.json.")
    ] = "json",
    figure: Annotated[
        str | None, typer.Option(help="Which picture or table, e.g. roles, ecdf, loss.")
    ] = None,
    threshold: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Score from which a head has a role.")
    ] = 0.5,
    mode: Annotated[str, typer.Option(help="every, always or any.")] = "every",
    theme: Annotated[str, typer.Option(help="light or dark.")] = "light",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Output file; - is stdout.")
    ] = None,
) -> None:
    """Write a finished run: its numbers, a picture of it, or a notebook that shows it."""
    from headscope.analyses.export import export as write
    from headscope.cli.store import transaction
    from headscope.store import runs
    from headscope.web.present import reproduce_command

    with transaction(console.settings()) as session:
        found = runs.get(session, complete_id(session, run))
        facts = {**described(found), "reproduce": reproduce_command(found)}
        result = runs.result(session, found.id)
    exported = write(result, format, facts, figure=figure, threshold=threshold, mode=mode, theme=theme)
    files.write(output or Path(exported.filename), exported.content)
