"""Whose turn it is on the device: one user at a time, between whose small steps others may go.

1. A prompt goes first: a job lets it pass at its next micro-batch.
2. Background work (a task's accuracy) goes as a prompt does, and after each of its own micro-batches lets a
   waiting job do one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turn:
    """The device's one place, and who waits for it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._busy = False
        self._prompts_waiting = 0
        self._jobs_waiting = 0
        self._jobs_taken = 0

    @contextmanager
    def interactive(self) -> Iterator[None]:
        """Wait for the device (a micro-batch at most, while a job runs) and hold it."""
        self._take_as_prompt()
        try:
            yield
        finally:
            self._release()

    @contextmanager
    def job(self) -> Iterator[None]:
        """Hold the device, behind all prompts that wait."""
        self._take_as_job()
        try:
            yield
        finally:
            self._release()

    def let_pass(self) -> None:
        """Called by the holder of ``job``: let the prompts that wait go first."""
        if self._prompts_waiting:
            self._release()
            self._take_as_job()

    def alternate(self) -> None:
        """Called by the holder of ``interactive`` within longer work: let a waiting job do a step."""
        self._release()
        with self._changed:
            before = self._jobs_taken
            self._changed.wait_for(lambda: not self._jobs_waiting or self._jobs_taken > before)
        self._take_as_prompt()

    def _take_as_prompt(self) -> None:
        with self._changed:
            self._prompts_waiting += 1
            self._changed.wait_for(lambda: not self._busy)
            self._prompts_waiting -= 1
            self._busy = True

    def _take_as_job(self) -> None:
        with self._changed:
            self._jobs_waiting += 1
            self._changed.wait_for(lambda: not self._busy and not self._prompts_waiting)
            self._jobs_waiting -= 1
            self._jobs_taken += 1
            self._busy = True
            self._changed.notify_all()

    def _release(self) -> None:
        with self._changed:
            self._busy = False
            self._changed.notify_all()
