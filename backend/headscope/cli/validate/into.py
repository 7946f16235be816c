"""``headscope validate chg --into``: known heads planted beside the real ones of the reader's own model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from headscope.cli import console
from headscope.python.progress import progress_bar

if TYPE_CHECKING:
    from headscope.validation.into import Into


def plant(model: str, task: str | None, preset: str, words: list[str], strength: float) -> None:
    """Plant into a model, fit with a run's settings, and say what was found; exit code 1 if not all."""
    from headscope.analyses.chg.schema import PRESETS, ChgParams
    from headscope.cli.run import parameters
    from headscope.errors import Invalid
    from headscope.models.catalogue import Catalogue
    from headscope.python.loading import Loaded
    from headscope.tasks.builtin import builtin_tasks
    from headscope.validation.into import plant_into

    known = builtin_tasks()
    if task is None or task not in known:
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
