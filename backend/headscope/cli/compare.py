"""``headscope compare``: several finished gating runs side by side, as a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from headscope.cli import console, files


def compare(
    name: Annotated[str, typer.Argument(metavar="NAME", help="shares, ecdf, correlation or overlap.")],
    run: Annotated[
        list[str],
        typer.Argument(metavar="RUN...", help="Ids of finished runs of chg, or their first letters."),
    ],
    format: Annotated[str, typer.Option(help="csv, json, html, png or svg.")] = "csv",  # noqa: A002
    threshold: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Score from which a head has a role.")
    ] = 0.5,
    mode: Annotated[str, typer.Option(help="every (share of seeds), always or any: overlap.")] = "every",
    score: Annotated[
        str,
        typer.Option(help="facilitation, interference or irrelevance, for a picture of one score."),
    ] = "facilitation",
    published: Annotated[
        bool,
        typer.Option("--published/--no-published", help="Show the paper's Llama values beside the shares."),
    ] = True,
    common: Annotated[
        bool, typer.Option("--common", help="Shares at the smallest number of seeds of any run.")
    ] = False,
    theme: Annotated[str, typer.Option(help="light or dark.")] = "light",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Output file; - is stdout.")
    ] = None,
) -> None:
    """Compare finished gating runs: shares of roles, distributions, correlations, overlap between tasks."""
    from headscope.analyses.comparisons import Compared, choose, find, look
    from headscope.analyses.export.compared import export
    from headscope.cli.runs import complete_id
    from headscope.cli.store import transaction
    from headscope.models.catalogue import Catalogue
    from headscope.store import runs

    settings = console.settings()
    seen = look(threshold=threshold, mode=mode, score=score, published=published, common=common, theme=theme)
    comparison = find(name)
    titles = Catalogue(settings).titles()
    with transaction(settings) as session:
        found = [runs.get(session, complete_id(session, start)) for start in run]
        named = [(one.id, titles.get(one.model, one.model)) for one in found]
        compared = [Compared(runs.result(session, run_id), run_id, model) for run_id, model in named]
    chosen = choose(compared, comparison)
    for note in chosen.notes:
        console.err_console().print(note, soft_wrap=True, markup=False)
    exported = export(name, chosen.runs, format, seen, theme)
    files.write(output or Path(exported.filename), exported.content)
