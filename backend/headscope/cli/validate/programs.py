"""``headscope validate programs``: programs compiled by Tracr, and small trained models of known circuit."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headscope.cli import console, files
from headscope.cli.validate.tables import table, table_json
from headscope.python.progress import progress_bar

if TYPE_CHECKING:
    from headscope.analyses.base import Progress
    from headscope.python.progress import Report

DRAWS = 20


def programs(
    draws: Annotated[
        int, typer.Option(min=1, max=1000, help="Times that each program is put among other heads.")
    ] = DRAWS,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed of the first draw.")] = 0,
    as_printed: Annotated[
        bool, typer.Option("--as-printed", help="Fit as the paper prints it, not as programs need it.")
    ] = False,
    summary: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the table here as JSON; - is stdout."),
    ] = None,
) -> None:
    """Fit programs compiled by Tracr and small trained models; exit code 1 if needed heads aren't found."""
    from headscope.validation import cells, compiled, trained
    from headscope.validation.chg import QUICK_SETTINGS
    from headscope.validation.known import PROGRAM_SETTINGS, KnownTrial, trial_of

    params, done = QUICK_SETTINGS if as_printed else PROGRAM_SETTINGS, list[KnownTrial]()
    models = [(compiled.known, name) for name in compiled.PROGRAMS]
    models += [(trained.known, name) for name in trained.TASKS]
    planned = [(make, name, seed + draw) for draw in range(draws) for make, name in models]
    try:
        with progress_bar() as report:
            for number, (make, name, of) in enumerate(planned):
                done.append(trial_of(make(name, of), params, _within(report, number, len(planned), name)))
    finally:
        if done:
            rows = cells.cells(done)
            out = console.err_console() if str(summary) == "-" else console.out_console()
            out.print(table(rows))
            if summary is not None:
                files.write(summary, table_json(rows, params, len(planned)))
    if not cells.passed(rows):
        out.print(
            f"Below its goal: {', '.join(row.name for row in rows if row.missed) or 'no model counts'}."
        )
        raise typer.Exit(console.FAILED)


def _within(report: Report, number: int, of: int, name: str) -> Report:
    """Progress of one model as progress of all."""
    from dataclasses import replace

    def told(progress: Progress) -> None:
        where = f"{name}, {number + 1} of {of} · {progress.phase}"
        report(replace(progress, phase=where, fraction=(number + progress.fraction) / of, seconds_left=None))

    return told
