"""``headscope validate chg``: models whose head roles are known by construction."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from headscope.cli import console, files
from headscope.cli.validate.into import plant
from headscope.cli.validate.tables import table, table_json
from headscope.python.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headscope.analyses.chg.schema import ChgParams
    from headscope.validation.cells import Cell
    from headscope.validation.chg import Trial, Verdict

QUICK_NOISES: Final = (0.0, 0.1)
PAPER_NOISES: Final = (0.0, 0.1, 0.2)
DRAWS: Final = 20


def chg(
    paper: Annotated[
        bool, typer.Option("--paper/--quick", help="The paper's settings, every size; or a minute's worth.")
    ] = False,
    size: Annotated[str | None, typer.Option(help="Only models of this size: small, medium, large.")] = None,
    noise: Annotated[
        float | None, typer.Option(min=0.0, max=10.0, help="Only models with this much noise.")
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=2**31 - 1, help="Seed for which head does what, and for the noise.")
    ] = 0,
    draws: Annotated[
        int, typer.Option(min=1, max=1000, help="Models of each size, form and noise; each another draw.")
    ] = DRAWS,
    within_clamp: Annotated[
        bool,
        typer.Option(
            "--within-clamp/--as-printed",
            help="Push from within the clamp, or as the paper prints it: beyond it nothing is pushed.",
        ),
    ] = True,
    into: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Plant heads beside the real ones of this model; needs --task."),
    ] = None,
    task: Annotated[str | None, typer.Option(help="With --into: the task to fit.")] = None,
    strength: Annotated[
        float, typer.Option(min=0.01, max=50.0, help="With --into: what a planted head is worth, in nats.")
    ] = 3.0,
    param: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="With --into: set one parameter of the run."),
    ] = None,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write the full result here; - is stdout."),
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the table here as JSON, without the models."),
    ] = None,
) -> None:
    """Fit models whose head roles are known; exit code 1 if a target is missed.

    Draws that are finished are kept in the data folder and not fitted again.
    """
    from headscope.validation.chg import PAPER_SETTINGS, QUICK_SETTINGS, trials
    from headscope.validation.kept import KeptDraws
    from headscope.validation.suite import cases, sizes_named

    if into is not None:
        plant(into, task, "paper" if paper else "quick", param or [], strength)
        return
    sizes = sizes_named(size, ("small", "medium", "large") if paper else ("small",))
    noises = (noise,) if noise is not None else PAPER_NOISES if paper else QUICK_NOISES
    asked = {"within_clamp": within_clamp}
    params = (PAPER_SETTINGS if paper else QUICK_SETTINGS).model_copy(update=asked)
    planned, done = cases(sizes, noises, seed, draws), list["Trial"]()
    kept = KeptDraws.under(console.settings().data_dir, params)
    try:
        with progress_bar() as report:
            done.extend(trials(planned, params, report, kept))
    finally:
        if done:  # after Ctrl-C too: what is finished is shown
            _tell(done, params, len(planned), json_file, summary)
    if not _passed(done):
        raise typer.Exit(console.FAILED)


def _passed(done: Sequence[Trial]) -> bool:
    """By AUROC in every cell; the strict targets are told beside it."""
    from headscope.validation.cells import cells, passed

    return passed(cells(done))


def _tell(
    done: Sequence[Trial], params: ChgParams, n_planned: int, json_file: Path | None, summary: Path | None
) -> None:
    import json

    from headscope.validation import cells
    from headscope.validation.chg import to_json, verdict

    out = console.err_console() if "-" in (str(json_file), str(summary)) else console.out_console()
    rows = cells.cells(done)
    out.print(table(rows))
    out.print(sentence(rows, verdict(done), len(done), n_planned), soft_wrap=True)
    if json_file is not None:
        found = {"passed": cells.passed(rows), "models_planned": n_planned, "cells": cells.to_json(rows)}
        files.write(json_file, json.dumps({**to_json(done, params), **found}, indent=1).encode())
    if summary is not None:
        files.write(summary, table_json(rows, params, n_planned))


def sentence(rows: Sequence[Cell], said: Verdict, n_done: int, n_planned: int) -> str:
    """What was found of all models, and which targets were missed."""
    from headscope.validation.shipped import GOALS

    if not said.n_models:
        return "No model still meets its premises: use less noise."
    stopped = "" if n_done == n_planned else f" Stopped after {n_done} of {n_planned} models."
    goals = ", ".join(f"{name} {least:g}" for name, least in GOALS.items())
    missed = [f"{', '.join(row.missed)} ({row.name})" for row in rows if row.missed]
    met = (
        f"[bold red]A target is missed:[/] {'; '.join(missed)}."
        if missed
        else "[bold]All targets are met.[/]"
    )
    strictly = "in all of them" if said.passed else "not in all of them"
    return (
        f"AUROC over the heads of {said.n_models} models; targets in every cell: {goals}. {met} "
        f"Strictly, every role is found {strictly}.{stopped}"
    )
