"""``headscope validate roles``: whether roles that replicate in one set of fits come out in another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headscope.cli import console, files

if TYPE_CHECKING:
    from headscope.analyses.chg.result import ChgResult


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
