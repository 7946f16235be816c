"""How many CPU threads compute: part of how sums are rounded, and so of what a chaotic fit finds.

The number stands at the end of a run's ``machine``; its command sets it, and *Reproduce* computes with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

_THREADS = re.compile(r", (\d+) threads?$")


def set_threads(threads: int | None) -> None:
    """For this process, from now on; None leaves it to torch."""
    if threads is not None:
        import torch

        torch.set_num_threads(threads)


def threads_words() -> str:
    """How many there are now, as ``machine`` ends."""
    import torch

    threads = torch.get_num_threads()
    return f", {threads} thread{'s' if threads != 1 else ''}"


def threads_of(machine: str | None) -> int | None:
    """How many computed there; None of a GPU, and of runs before the number was kept."""
    found = _THREADS.search(machine or "")
    return int(found[1]) if found else None


@contextmanager
def computing_with(threads: int | None) -> Iterator[None]:
    """So many threads inside, as many as before afterwards; None changes nothing."""
    if threads is None:
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
