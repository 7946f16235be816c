"""A process's heartbeat: a row in ``workers`` that a thread keeps fresh by the database's clock."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

from headscope.errors import Unavailable
from headscope.store import workers
from headscope.store.session import Store

log = logging.getLogger(__name__)


class Heartbeat:
    """Beats five times within ``patience`` seconds, the time after which others take it for dead.

    After each beat ``tend`` is called, but only while the last ``patience`` seconds went without a missed
    beat: after an outage everyone looks dead, until everyone has had time to beat again.
    """

    def __init__(
        self,
        store: Store,
        worker_id: str,
        patience: float,
        *,
        register: Callable[[], None],
        models: Callable[[], Sequence[str]] = tuple,
        tend: Callable[[], None] = lambda: None,
    ) -> None:
        self._store, self._id, self._patience = store, worker_id, patience
        self._register, self._models, self._tend = register, models, tend
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        """Register, so that the worker is alive when this returns, and keep beating."""
        self._register()
        self._thread.start()

    def stop(self) -> None:
        """Stop, and say so: others may take over at once."""
        self._stop.set()
        self._thread.join(timeout=5.0)
        try:
            with self._store.session() as session:
                workers.retire(session, self._id)
        except Unavailable as error:
            log.warning("Could not sign off: %s", error)

    def _run(self) -> None:
        steady_since = last = time.monotonic()
        while not self._stop.wait(self._patience / 5):
            try:
                with self._store.session() as session:
                    known = workers.beat(session, self._id, list(self._models()))
                if not known:
                    self._register()
            except Unavailable as error:
                log.warning("No heartbeat: %s", error)
                continue
            if time.monotonic() - last > self._patience:
                steady_since = time.monotonic()
            last = time.monotonic()
            if last - steady_since >= self._patience:
                self._look_after_others()

    def _look_after_others(self) -> None:
        try:
            self._tend()
        except Exception:  # whatever it is, the heartbeat goes on
            log.exception("Looking after dead workers failed")
