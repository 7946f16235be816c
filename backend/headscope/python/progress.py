"""How far a computation is: a bar in a notebook, a moving line in a terminal, lines in a log.

Rich draws in a notebook only with ipywidgets; there a plain HTML bar is updated in place instead.
"""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from headscope.analyses.base import Progress

LOG_SECONDS = 10.0
"""Between two lines where there is nothing to draw on."""
DRAW_SECONDS = 0.1
"""Between two states of a notebook's bar."""

Report = Callable[["Progress"], None]


def progress_bar() -> AbstractContextManager[Report]:
    """Give a function that takes ``Progress`` and shows it where this process is read."""
    if in_notebook():
        return _in_notebook()
    return _in_terminal()


def in_notebook() -> bool:
    """Whether this process is a notebook's kernel; loads nothing that isn't loaded."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def words(progress: Progress) -> tuple[str, str]:
    """What is being done, and how long it will take, in words."""
    loss = "" if progress.loss is None else f" · loss {progress.loss:.3g} nats"
    count = f"{progress.step}/{progress.steps}" if progress.steps else ""
    where = " · ".join(part for part in (progress.phase, progress.seeds, count) if part)
    seconds = progress.seconds_left
    return where + loss, "" if seconds is None else f"{seconds:.0f} s left"


@contextmanager
def _in_terminal() -> Iterator[Report]:
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(), TextColumn("{task.fields[left]}"),
    )  # fmt: skip
    err = _console()
    told = time.monotonic()
    with Bar(*columns, console=err, disable=not err.is_terminal) as bar:
        line = bar.add_task("starting", total=1.0, left="")

        def report(progress: Progress) -> None:
            what, left = words(progress)
            bar.update(line, completed=progress.fraction, description=what, left=left)
            nonlocal told
            if not err.is_terminal and time.monotonic() - told >= LOG_SECONDS:
                told = time.monotonic()
                err.print(f"{progress.fraction:.0%} · {what} · {left or 'time left not known yet'}")

        yield report
        bar.update(line, completed=1.0, left="")


@contextmanager
def _in_notebook() -> Iterator[Report]:
    from IPython.display import HTML, display

    shown: Any = display(HTML(_bar(0.0, "starting", "")), display_id=True)
    drawn = time.monotonic()

    def report(progress: Progress) -> None:
        nonlocal drawn
        if time.monotonic() - drawn >= DRAW_SECONDS:
            drawn = time.monotonic()
            shown.update(HTML(_bar(progress.fraction, *words(progress))))

    try:
        yield report
    except BaseException:
        shown.update(HTML(""))  # what is said instead stands below
        raise
    shown.update(HTML(""))


def _bar(fraction: float, what: str, left: str) -> str:
    said = " · ".join(html.escape(part) for part in (f"{fraction:.0%}", what, left) if part)
    return f'<progress value="{fraction:.4f}" max="1" style="width: 16em"></progress> {said}'


def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else 160)
