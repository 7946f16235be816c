"""The command line: ``headscope serve``, ``run``, ``runs``, ``export``, ``models``, ``tasks`` and more.

Commands live a file each and import what they need when they run, so that ``--help`` answers at once. Results
go to stdout, everything else to stderr. Exit codes: 0 done, 1 failed, 2 bad input, 130 cancelled by Ctrl-C.
"""

from __future__ import annotations

from typing import Annotated

import typer

from headscope import __version__
from headscope.cli import (
    atlas,
    compare,
    db,
    export,
    gates,
    models,
    prompts,
    run,
    runs,
    serve,
    tasks,
    validate,
)
from headscope.cli.console import Commands

app = typer.Typer(
    cls=Commands,
    help="What every attention head of a language model is for.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"headscope {__version__}")
        raise typer.Exit


@app.callback()
def _headscope(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """What every attention head of a language model is for."""


app.command("serve")(serve.serve)
app.command("worker")(serve.worker)
app.command("run")(run.run)
app.command("export")(export.export)
app.command("compare")(compare.compare)
app.add_typer(models.app, name="models")
app.add_typer(tasks.app, name="tasks")
app.add_typer(prompts.app, name="prompts")
app.add_typer(gates.app, name="gates")
app.add_typer(runs.app, name="runs")
app.add_typer(atlas.app, name="atlas")
app.add_typer(validate.app, name="validate")
app.add_typer(db.app, name="db")
