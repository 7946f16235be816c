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
    from headscope.validation.chg import Trial, Verdict

app = typer.Typer(help="Check a method against models whose heads are known.", no_args_is_help=True)

QUICK_NOISES, PAPER_NOISES = (0.0, 0.1), (0.0, 0.1, 0.2)


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
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write the full result here; - is stdout."),
    ] = None,
) -> None:
    """Fit models whose head roles are known; exit code 1 if a target is missed."""
    from headscope.validation.chg import PAPER_SETTINGS, QUICK_SETTINGS, trials, verdict
    from headscope.validation.suite import cases, sizes_named

    sizes = sizes_named(size, ("small", "medium", "large") if paper else ("small",))
    noises = (noise,) if noise is not None else PAPER_NOISES if paper else QUICK_NOISES
    params = PAPER_SETTINGS if paper else QUICK_SETTINGS
    planned, done = cases(sizes, noises, seed), list["Trial"]()
    try:
        with progress_bar() as report:
            done.extend(trials(planned, params, report))
    finally:
        if done:  # after Ctrl-C too: what is finished is shown
            _tell(done, params, json_file, len(planned))
    if not verdict(done).passed:
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


def _tell(done: Sequence[Trial], params: ChgParams, json_file: Path | None, n_planned: int) -> None:
    import json

    from headscope.validation.chg import to_json, verdict

    out = console.err_console() if str(json_file) == "-" else console.out_console()
    out.print(_table(done))
    said = verdict(done)
    out.print(_sentence(said, len(done), n_planned), soft_wrap=True)
    if json_file is not None:
        content = {**to_json(done, params), "models_planned": n_planned}
        files.write(json_file, json.dumps(content, indent=1).encode())


def _table(done: Sequence[Trial]) -> object:
    from rich.table import Table

    from headscope.validation.chg import verdict
    from headscope.validation.planted import ROLES

    table = Table("model", *ROLES, "planted as intended", "s", box=None, pad_edge=False)
    for one in done:
        holds = "yes" if one.premises.hold else "no: drowned by noise"
        shares = (_share(one.matches[role].precision, one.matches[role].recall) for role in ROLES)
        table.add_row(one.case.name, *shares, holds, f"{one.seconds:.0f}")
    overall = verdict(done).matches
    shares = (_share(overall[role].precision, overall[role].recall) for role in ROLES)
    table.add_row("[bold]together[/]", *shares, "", "")
    table.caption = "precision / recall, over all seeds of a model"
    return table


def _share(precision: float, recall: float) -> str:
    """Two shares in three figures; "–" where there is nothing to divide by."""
    return " / ".join("–" if number != number else f"{number:.3g}" for number in (precision, recall))


def _sentence(said: Verdict, n_done: int, n_planned: int) -> str:
    if not said.n_models:
        return "No model still meets its premises: use less noise."
    stopped = "" if n_done == n_planned else f" Stopped after {n_done} of {n_planned} models."
    of = f"{said.pairs:.0%} of {said.n_models} models"
    pairs = f"The redundant pair is needed in some seeds and not in all in {of} (target: 90 %)"
    others = "needed, harmful and useless heads are to be found at 1 / 1"
    met = "[bold]All targets are met.[/]" if said.passed else "[bold red]A target is missed.[/]"
    return f"{pairs}; {others}. {met}{stopped}"
