"""``headscope validate roles``: whether roles that replicate in one set of fits come out in another."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headscope.cli import console, files

if TYPE_CHECKING:
    from headscope.analyses.chg.result import ChgResult

DEFAULT_THRESHOLD = 0.5


def roles(
    model: Annotated[str, typer.Option(help="A model's name, or a path to its folder.")],
    task: Annotated[str, typer.Option(help="A task's name.")],
    seeds: Annotated[int, typer.Option(min=4, max=64, help="Fits in each of the two sets.")] = 10,
    preset: Annotated[str | None, typer.Option(help="A named set of parameters: quick, paper.")] = "quick",
    param: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Set one parameter; can be repeated.")
    ] = None,
    threshold: Annotated[float, typer.Option(min=0.01, max=1, help="Of a role.")] = DEFAULT_THRESHOLD,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Write the full comparison here; - is stdout."),
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Put the comparison into this file, in the place of the one before of the pair.",
        ),
    ] = None,
) -> None:
    """Fit two sets of disjoint seeds and see whether roles that replicate in one come out in the other.

    Both are runs of the store: the same command goes on where it was stopped, and a set that is there is not
    fitted again. The table is Markdown. Exit code 1 if fewer than nine in ten come again.
    """
    import json

    from headscope.validation.replication import compared, table, to_json

    params = param or []
    ids, (first, second) = _fitted(model, task, seeds, preset, params)
    both = compared(first, second, threshold)
    out = console.err_console() if str(json_file) == "-" else console.out_console()
    for line in table(both, f"{model}, {task}, {seeds} fits a set"):
        out.print(line, soft_wrap=True, markup=False, highlight=False)
    if json_file is not None:
        content = {"validation": "roles", "runs": ids, "threshold": threshold, "roles": to_json(both)}
        files.write(json_file, json.dumps(content, indent=1).encode())
    if summary is not None:
        _put(summary, first, to_json(both), _command(model, task, seeds, preset, params, threshold))
    if not all(one.passed for one in both.values()):
        raise typer.Exit(console.FAILED)


def _fitted(
    model: str, task: str, seeds: int, preset: str | None, param: list[str]
) -> tuple[list[str], tuple[ChgResult, ChgResult]]:
    """The two sets as runs of the store: their ids and results."""
    from headscope.analyses.chg.result import ChgResult
    from headscope.cli.run import compute, parameters, resolve
    from headscope.models.catalogue import Catalogue
    from headscope.store import runs
    from headscope.store.opening import opened

    settings, found, ids = console.settings(), list[ChgResult](), list[str]()
    models = Catalogue(settings)
    with opened(settings) as store:
        for first in (0, seeds):
            asked = {**parameters(param), "seeds": seeds, "first_seed": first}
            ids.append(
                compute(settings, store, models, resolve(store, models, "chg", model, task, preset, asked))
            )
            with store.session() as session:
                result = runs.result(session, ids[-1])
            if isinstance(result, ChgResult):
                found.append(result)
    return ids, (found[0], found[1])


def _put(summary: Path, result: ChgResult, roles: Mapping[str, Any], command: str) -> None:
    from headscope.validation.replicated import Pair, pairs, with_pair

    pair = Pair(
        model=result.model.title or result.model.name,
        task=str((result.task or {}).get("title", "")),
        fits=len(result.seeds),
        steering=result.vocabulary.kind != "roles",
        command=command,
        roles=roles,
    )
    files.write(summary, with_pair(pair, pairs(summary)))


def _command(
    model: str, task: str, seeds: int, preset: str | None, param: list[str], threshold: float
) -> str:
    words = ["headscope", "validate", "roles", "--model", model, "--task", task, "--seeds", str(seeds)]
    words += ["--preset", preset] if preset else []
    words += [word for one in param for word in ("--param", one)]
    words += [] if threshold == DEFAULT_THRESHOLD else ["--threshold", f"{threshold:g}"]
    return shlex.join(words)
