"""How far a computation is, as a line that moves: phase, seeds, update, loss, time left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from headscope.cli import console

if TYPE_CHECKING:
    from headscope.analyses.base import Progress

LOG_SECONDS = 10.0
"""Between two lines where there is no terminal to draw on."""


@contextmanager
def progress_bar() -> Iterator[Callable[[Progress], None]]:
    """Give a function that takes ``Progress`` and shows it: a moving bar, or in a pipe or log a line now and
    then.
    """
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(), TextColumn("{task.fields[left]}"),
    )  # fmt: skip
    err = console.err_console()
    told = time.monotonic()
    with Bar(*columns, console=err, disable=not err.is_terminal) as bar:
        line = bar.add_task("starting", total=1.0, left="")

        def report(progress: Progress) -> None:
            loss = "" if progress.loss is None else f" · loss {progress.loss:.3g} nats"
            parts = (progress.phase, progress.seeds, f"{progress.step}/{progress.steps}")
            where = " · ".join(part for part in parts if part)
            seconds = progress.seconds_left
            left = "" if seconds is None else f"{seconds:.0f} s left"
            bar.update(line, completed=progress.fraction, description=where + loss, left=left)
            nonlocal told
            if not err.is_terminal and time.monotonic() - told >= LOG_SECONDS:
                told = time.monotonic()
                err.print(f"{progress.fraction:.0%} · {where}{loss} · {left or 'time left not known yet'}")

        yield report
        bar.update(line, completed=1.0, left="")
