"""``headscope validate``: planted truth, fitted here and now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headscope.cli import console, files
from headscope.python.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from headscope.analyses.base import Progress
    from headscope.analyses.chg.schema import ChgParams
    from headscope.python.progress import Report
    from headscope.validation.cells import Cell, Found
    from headscope.validation.chg import Trial, Verdict
    from headscope.validation.into import Into

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
        _into(into, task, "paper" if paper else "quick", param or [], strength)
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


def _into(model: str, task: str | None, preset: str, words: list[str], strength: float) -> None:
    """Plant into a model, fit with a run's settings, and say what was found; exit code 1 if not all."""
    from headscope.analyses.chg.schema import PRESETS, ChgParams
    from headscope.cli.run import parameters
    from headscope.errors import Invalid
    from headscope.models.catalogue import Catalogue
    from headscope.python.loading import Loaded
    from headscope.tasks.builtin import builtin_tasks
    from headscope.validation.into import plant_into

    known = builtin_tasks()
    if task not in known:
        raise Invalid(
            "--into needs a built-in task." if task is None else f"There is no built-in task {task!r}.",
            f"Name one with --task: {', '.join(known)}.",
            code="unknown-task",
        )
    settings = console.settings()
    params = ChgParams.model_validate({**PRESETS[preset], **parameters(words)})
    loaded = Loaded(Catalogue(settings), settings.device)
    with loaded.model(model, dtype=params.dtype, attention="sdpa") as heads, progress_bar() as report:
        told = plant_into(heads, known[task], params, strength, report=report)
    out = console.out_console()
    out.print(_planted_table(told))
    missed = [role for role, found in told.found.items() if not found]
    out.print(
        f"{told.fits} fits of {told.n_real} real and {len(told.heads)} planted heads, {strength:g} nats. "
        + (
            f"[bold red]Not found: {', '.join(missed)}.[/]"
            if missed
            else "[bold]All planted roles are found.[/]"
        )
        + " This shows the power of these settings for effects of this size, not that real heads' roles are "
        "right, nor how heads that work through one another are found.",
        soft_wrap=True,
    )
    if missed:
        raise typer.Exit(console.FAILED)


def _planted_table(told: Into) -> object:
    from rich.table import Table

    table = Table(
        "planted as", "head", "cost, nats", "share of fits", "real heads above", box=None, pad_edge=False
    )
    for one in told.heads:
        table.add_row(
            one.role, f"{one.head[0]}.{one.head[1]}", f"{one.cost:.3f}", f"{one.share:.2f}", str(one.above)
        )
    first, second = (told.pair.heads.index(one.head) for one in told.heads if one.role == "redundant")
    together, beyond = told.pair.together[first, second], told.pair.interaction[first, second]
    table.caption = (
        "Share of fits with the role (redundant: with needed). Both of the pair closed: "
        f"{together:.2f} nats, of which {beyond:.2f} beyond what each costs alone."
    )
    return table


@app.command("programs")
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
            out.print(_table(rows))
            if summary is not None:
                files.write(summary, _table_json(rows, params, len(planned)))
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


def _table_json(rows: Sequence[Cell], params: ChgParams, n_planned: int) -> bytes:
    import json

    from headscope.validation import cells

    content = {
        "params": params.model_dump(mode="json"),
        "passed": cells.passed(rows),
        "models_planned": n_planned,
        "cells": cells.to_json(rows),
    }
    return (json.dumps(content, indent=1) + "\n").encode()


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
    if json_file is not None:
        table = {"passed": cells.passed(rows), "models_planned": n_planned, "cells": cells.to_json(rows)}
        files.write(json_file, json.dumps({**to_json(done, params), **table}, indent=1).encode())
    if summary is not None:
        files.write(summary, _table_json(rows, params, n_planned))


def _table(rows: Sequence[Cell]) -> object:
    from rich.table import Table

    from headscope.validation.cells import MEASURES

    table = Table("cell", "draws", *MEASURES, box=None, pad_edge=False)
    for row in rows:
        counted = f"{row.counted} of {row.draws}"
        table.add_row(row.name, counted, *(_cell(row.found[name]) for name in MEASURES))
    table.caption = (
        "AUROC, mean over draws [95 %]; below it precision / recall, strictly. pair: both closed against "
        "each; shares: needed in some fits and not in all. Draws: those that noise hasn't drowned."
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
