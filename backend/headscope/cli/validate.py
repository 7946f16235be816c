"""``headscope validate``: planted truth, fitted here and now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headscope.cli import console, files
from headscope.python.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headscope.analyses.chg.schema import ChgParams
    from headscope.validation.cells import Cell, Found
    from headscope.validation.chg import Trial, Verdict

app = typer.Typer(help="Check a method against models whose heads are known.", no_args_is_help=True)

QUICK_NOISES, PAPER_NOISES = (0.0, 0.1), (0.0, 0.1, 0.2)
DRAWS = 20


@app.command("chg")
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

    sizes = sizes_named(size, ("small", "medium", "large") if paper else ("small",))
    noises = (noise,) if noise is not None else PAPER_NOISES if paper else QUICK_NOISES
    params = PAPER_SETTINGS if paper else QUICK_SETTINGS
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


@app.command("roles")
def roles(
    model: Annotated[str, typer.Option(help="A model's name, or a path to its folder.")],
    task: Annotated[str, typer.Option(help="A task's name.")],
    seeds: Annotated[int, typer.Option(min=4, max=64, help="Fits in each of the two sets.")] = 10,
    preset: Annotated[str | None, typer.Option(help="A named set of parameters: quick, paper.")] = "quick",
    param: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Set one parameter; can be repeated.")
    ] = None,
    threshold: Annotated[float, typer.Option(min=0.01, max=1, help="Of a role.")] = 0.5,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write the full comparison here; - is stdout."),
    ] = None,
) -> None:
    """Fit two sets of disjoint seeds and see whether roles that replicate in one come out in the other.

    Both are runs of the store: the same command goes on where it was stopped, and a set that is there is not
    fitted again. The table is Markdown. Exit code 1 if fewer than nine in ten come again.
    """
    import json

    from headscope.analyses.chg.result import ChgResult
    from headscope.cli.run import compute, parameters, resolve
    from headscope.models.catalogue import Catalogue
    from headscope.store import runs
    from headscope.store.opening import opened
    from headscope.validation.replication import compared, table, to_json

    settings, found, ids = console.settings(), list["ChgResult"](), list[str]()
    models = Catalogue(settings)
    with opened(settings) as store:
        for first in (0, seeds):
            params = {**parameters(param or []), "seeds": seeds, "first_seed": first}
            ids.append(
                compute(settings, store, models, resolve(store, models, "chg", model, task, preset, params))
            )
            with store.session() as session:
                result = runs.result(session, ids[-1])
            if isinstance(result, ChgResult):
                found.append(result)
    both = compared(found[0], found[1], threshold)
    out = console.err_console() if str(json_file) == "-" else console.out_console()
    for line in table(both, f"{model}, {task}, {seeds} fits a set"):
        out.print(line, soft_wrap=True, markup=False, highlight=False)
    if json_file is not None:
        content = {"validation": "roles", "runs": ids, "threshold": threshold, "roles": to_json(both)}
        files.write(json_file, json.dumps(content, indent=1).encode())
    if not all(one.passed for one in both.values()):
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
    out.print(_table(rows))
    out.print(_sentence(rows, verdict(done), len(done), n_planned), soft_wrap=True)
    table = {"models_planned": n_planned, "cells": cells.to_json(rows)}
    if json_file is not None:
        content = {**to_json(done, params), **table, "passed": cells.passed(rows)}
        files.write(json_file, json.dumps(content, indent=1).encode())
    if summary is not None:
        content = {"params": params.model_dump(mode="json"), "passed": cells.passed(rows), **table}
        files.write(summary, (json.dumps(content, indent=1) + "\n").encode())


def _table(rows: Sequence[Cell]) -> object:
    from rich.table import Table

    from headscope.validation.cells import MEASURES

    table = Table("cell", "draws", *MEASURES, box=None, pad_edge=False)
    for row in rows:
        counted = f"{row.counted} of {row.draws}"
        table.add_row(row.name, counted, *(_cell(row.found[name]) for name in MEASURES))
    table.caption = (
        "AUROC, mean over draws [95 %]; below it precision / recall, strictly. pair: both closed against each; "
        "shares: needed in some fits and not in all. Draws: those that noise hasn't drowned."
    )
    return table


def _cell(found: Found) -> str:
    area = found.auroc
    if area.n == 0:
        return "–"
    exact = _share(found.precision.mean, found.recall.mean)
    return f"{area.mean:.3f} [dim][{area.low:.2f}, {area.high:.2f}][/]\n[dim]{exact}[/]"


def _share(precision: float, recall: float) -> str:
    """Two shares in three figures; "–" where there is nothing to divide by."""
    return " / ".join("–" if number != number else f"{number:.3g}" for number in (precision, recall))


def _sentence(rows: Sequence[Cell], said: Verdict, n_done: int, n_planned: int) -> str:
    from headscope.validation.cells import GOALS

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
