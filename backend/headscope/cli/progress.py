"""How far a computation is, as a line that moves: phase, seeds, update, loss, time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from headscope.cli import console

if TYPE_CHECKING:
    from headscope.analyses.base import Progress


@contextmanager
def progress_bar() -> Iterator[Callable[[Progress], None]]:
    """Give a function that takes ``Progress`` and shows it; in a pipe nothing is drawn."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(), TextColumn("{task.fields[left]}"),
    )  # fmt: skip
    with Bar(*columns, console=console.err_console()) as bar:
        line = bar.add_task("starting", total=1.0, left="")

        def report(progress: Progress) -> None:
            loss = "" if progress.loss is None else f" · loss {progress.loss:.3g} nats"
            where = f"{progress.phase} · seeds {progress.seeds} · {progress.step}/{progress.steps}"
            seconds = progress.seconds_left
            bar.update(
                line,
                completed=progress.fraction,
                description=where + loss,
                left="" if seconds is None else f"{seconds:.0f} s left",
            )

        yield report
        bar.update(line, completed=1.0, left="")
