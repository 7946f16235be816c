"""Who computes on the device: one at a time, and between its small steps others may go first.

1. A prompt goes first: a job lets it pass at its next micro-batch. Prompts go in the order they came.
2. Background work (a task's accuracy) goes as a prompt does, and after each of its own micro-batches lets a
   waiting job do one.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class DeviceQueue:
    """Holds the device for one user, and orders those that wait."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._busy = False
        self._prompts: deque[object] = deque()
        self._jobs_waiting = 0
        self._jobs_taken = 0
        self._job_holds = False

    @property
    def waiting(self) -> int:
        """How many prompts wait."""
        return len(self._prompts)

    @contextmanager
    def interactive(self, check: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Wait for the device (a micro-batch at most, while a job runs) and hold it.

        ``check`` is called while it waits, several times a second, and once more at the end; what it raises
        ends the waiting.
        """
        self._take_as_prompt(check)
        try:
            yield
        finally:
            self._release()

    @contextmanager
    def job(self) -> Iterator[None]:
        """Hold the device, behind all prompts that wait. One job a process."""
        self._take_as_job(lambda: None)
        try:
            yield
        finally:
            if self._job_holds:
                self._job_holds = False
                self._release()

    def let_pass(self, check: Callable[[], None] = lambda: None) -> None:
        """Called by the holder of ``job``: let the prompts that wait go first.

        ``check`` is called while it waits, several times a second; what it raises ends the waiting.
        """
        if self._prompts:
            self._job_holds = False
            self._release()
            self._take_as_job(check)

    def alternate(self) -> None:
        """Called by the holder of ``interactive`` within longer work: let a waiting job do a step."""
        self._release()
        with self._changed:
            before = self._jobs_taken
            self._changed.wait_for(lambda: not self._jobs_waiting or self._jobs_taken > before)
        self._take_as_prompt(lambda: None)

    def _take_as_prompt(self, check: Callable[[], None]) -> None:
        ticket = object()
        with self._changed:
            self._prompts.append(ticket)
            try:
                while not self._changed.wait_for(
                    lambda: not self._busy and self._prompts[0] is ticket, timeout=0.25
                ):
                    check()
                check()
                self._busy = True
            finally:
                self._prompts.remove(ticket)
                self._changed.notify_all()

    def _take_as_job(self, check: Callable[[], None]) -> None:
        with self._changed:
            self._jobs_waiting += 1
            try:
                while not self._changed.wait_for(self._free_for_job, timeout=0.25):
                    check()
            finally:
                self._jobs_waiting -= 1
            self._jobs_taken += 1
            self._busy = self._job_holds = True
            self._changed.notify_all()

    def _free_for_job(self) -> bool:
        return not self._busy and not self._prompts

    def _release(self) -> None:
        with self._changed:
            self._busy = False
            self._changed.notify_all()
