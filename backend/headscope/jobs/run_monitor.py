"""A thread beside a computation: watches for a stop, and writes its progress down.

The computing thread only reads a flag and leaves its progress; it never waits for the database.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from types import TracebackType

from headscope.analyses.base import Progress
from headscope.errors import Cancelled, Unavailable
from headscope.store import attempts
from headscope.store.attempts import Superseded
from headscope.store.session import Store

CHECK_EVERY = 0.25
"""Seconds between two checks of the cancel flag."""

WRITE_EVERY = 0.5
"""Seconds at least between two writes of progress."""


class RunMonitor:
    """Used as a context manager around the computation of one attempt by one owner."""

    def __init__(
        self,
        store: Store,
        run_id: str,
        number: int,
        owner: str,
        on_progress: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        self._store, self._run_id, self._number, self._owner = store, run_id, number, owner
        self._on_progress = on_progress
        self._reason: type[Cancelled] | type[Superseded] | None = None
        self._latest: Progress | None = None
        self._written: Progress | None = None
        self._written_at = 0.0
        self._pace = Pace()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name=f"monitor-{run_id}", daemon=True)

    def __enter__(self) -> RunMonitor:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join(timeout=5.0)

    def check(self) -> None:
        """Raises ``Cancelled`` where someone asked for a stop, ``Superseded`` where another has it."""
        if self._reason is Cancelled:
            raise Cancelled("The run was cancelled.", "Restart it to continue from its last finished piece.")
        if self._reason is Superseded:
            raise Superseded(f"{self._run_id}/{self._number}")

    def report(self, progress: Progress) -> None:
        """Leave progress of the whole run (``fraction``); its remaining seconds are measured here."""
        self.say(replace(progress, seconds_left=self._pace.seconds_left(progress.fraction)))

    def say(self, progress: Progress) -> None:
        """Leave a word about waiting or loading, which is no part of the pace."""
        self._latest = progress
        self._on_progress(progress)

    def _watch(self) -> None:
        while not self._stop.wait(CHECK_EVERY):
            try:
                self._check_flag()
                self._write()
            except Unavailable:
                continue  # a database that is away for a while stops nothing
            except Superseded:
                self._reason = Superseded
            if self._reason is not None:
                return

    def _check_flag(self) -> None:
        with self._store.session() as session:
            seen = attempts.state(session, self._run_id, self._number)
        if seen is None or seen.status != "running" or seen.owner != self._owner:
            self._reason = Superseded
        elif seen.cancel_requested:
            self._reason = Cancelled

    def _write(self) -> None:
        latest = self._latest
        if latest is None or latest is self._written or time.monotonic() - self._written_at < WRITE_EVERY:
            return
        with self._store.session() as session:
            attempts.set_progress(session, self._run_id, self._number, self._owner, asdict(latest))
        self._written, self._written_at = latest, time.monotonic()


class Pace:
    """Seconds left, from the fraction done per second since the first report of this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start: tuple[float, float] | None = None

    def seconds_left(self, fraction: float) -> float | None:
        """None until there is something to measure: the first report only starts the clock."""
        if self._start is None:
            self._start = (self._clock(), fraction)
        since, first = self._start
        elapsed, done = self._clock() - since, fraction - first
        if done <= 0 or elapsed < 0.5:
            return None
        return max(0.0, (1.0 - fraction) * elapsed / done)
