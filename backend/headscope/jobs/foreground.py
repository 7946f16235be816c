"""A run computed by the process that asked for it: the command line, the gallery.

The same pieces and the same store as a worker's, but no queue: pieces are kept as they come, so that an
interrupted command continues where it was. A run that a live process computes already is followed instead.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from headscope.analyses import ANALYSES
from headscope.analyses.base import Analysis, Progress
from headscope.errors import Cancelled, HeadscopeError
from headscope.jobs.computation import Models, Workplace
from headscope.jobs.device import find_device
from headscope.jobs.device_queue import DeviceQueue
from headscope.jobs.execution import carry_out
from headscope.jobs.heartbeat import Heartbeat
from headscope.jobs.loading import Folders, FromFolders
from headscope.jobs.threads import set_threads
from headscope.models.proofs import Proofs
from headscope.settings import Settings
from headscope.store import runs, workers
from headscope.store.session import Store
from headscope.store.tables import Attempt, Run

_PATIENCE = 10.0


def run_foreground(
    store: Store,
    run_id: str,
    folders: Folders,
    on_progress: Callable[[Progress], None] = lambda _: None,
    *,
    settings: Settings | None = None,
    analyses: Mapping[str, Analysis[Any, Any]] = ANALYSES,
    models: Models | None = None,
) -> None:
    """Compute a run that ``store.runs.create_or_get`` wrote down, or follow the one who does, to its end.

    ``folders`` (the catalogue) says where models lie; ``models`` takes its place.
    Ctrl-C cancels the run and is raised again. Raises ``Cancelled`` where someone else cancelled it, and the
    run's own error where it failed.
    """
    settings = settings or Settings()
    set_threads(settings.threads)
    device = find_device(settings.device)
    owner = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    place = Workplace(
        store, owner, analyses,
        models or FromFolders(folders, device.name, Proofs(settings.data_dir / "proofs")),
        device, DeviceQueue(), settings.data_dir / "locks",
    )  # fmt: skip
    heartbeat = Heartbeat(store, owner, _PATIENCE, register=lambda: _register(store, place))
    heartbeat.start()
    try:
        while True:
            number = _last(store, run_id).number
            outcome = carry_out(place, run_id, number, foreground=True, on_progress=on_progress)
            if outcome != "superseded" or _follow(store, run_id, number, on_progress):
                break
    finally:
        heartbeat.stop()
    _raise_unless_done(store, run_id)


def _register(store: Store, place: Workplace) -> None:
    with store.session() as session:
        workers.register(
            session, place.owner, kind="foreground", host=socket.gethostname(), device=place.device.name,
            queue="", memory_bytes=place.device.memory_bytes, patience=_PATIENCE,
        )  # fmt: skip


def _last(store: Store, run_id: str) -> Attempt:
    with store.session() as session:
        return runs.get(session, run_id).last


def _follow(store: Store, run_id: str, number: int, on_progress: Callable[[Progress], None]) -> bool:
    """Report another process' progress to the attempt's end; False where its owner died and it is ours."""
    while True:
        with store.session() as session:
            run = runs.get(session, run_id)
            attempt = run.last
            owned = attempt.owner is None or workers.is_alive(session, attempt.owner)
        if not run.active or attempt.number != number:
            return not run.active
        if attempt.status == "running" and not owned:
            return False
        if attempt.progress is not None:
            on_progress(Progress(**attempt.progress))
        time.sleep(0.5)


def _raise_unless_done(store: Store, run_id: str) -> None:
    with store.session() as session:
        run: Run = runs.get(session, run_id)
    if run.last.status == "cancelled":
        raise Cancelled(f"Run {run_id} was cancelled.", "Rerun it to continue from its last finished piece.")
    if run.last.status == "failed":
        problem = run.last.error or {}
        raise HeadscopeError(
            problem.get("detail", "The run failed."), problem.get("remedy", ""), code=problem.get("code")
        )
