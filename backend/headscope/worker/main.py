"""The worker process: computes runs from its queue, answers prompts, and says that it is alive.

1. Bring the tables up to date, find the device, take a name.
2. Listen for prompts on a free port; register with the address; start the heartbeat.
3. Start the engine: first what this name left unfinished, then what waits, and what dead workers leave.
4. On SIGTERM, Ctrl-C or its parent's death: sign off and exit at once. Its run continues elsewhere, or
   here after the next start, from its last finished piece.
"""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from typing import Any

import uvicorn

from headscope.analyses import ANALYSES
from headscope.analyses.base import Analysis
from headscope.core.model.head_model import HeadModel
from headscope.core.model.memory import weight_bytes
from headscope.errors import Unavailable
from headscope.jobs.computation import Models, Workplace
from headscope.jobs.device import Device, find_device, free_bytes
from headscope.jobs.device_queue import DeviceQueue
from headscope.jobs.engine import Engine
from headscope.jobs.heartbeat import Heartbeat
from headscope.jobs.partial import keep
from headscope.jobs.threads import set_threads
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.store import attempts, migrate, workers
from headscope.store.session import open_store
from headscope.worker.accuracy import Accuracies
from headscope.worker.app import create_app
from headscope.worker.handler import RequestHandler
from headscope.worker.identity import take_name
from headscope.worker.model_cache import Key, ModelCache

log = logging.getLogger(__name__)


def run(
    settings: Settings,
    parent_pid: int | None = None,
    *,
    analyses: Mapping[str, Analysis[Any, Any]] = ANALYSES,
    models: Models | None = None,
) -> None:
    """Work until told to stop, or until ``parent_pid`` is no longer the parent; then end the process.

    ``models`` takes the place of the data folder's models for jobs.
    """
    migrate.upgrade(settings)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    worker = Worker(settings, analyses, models)
    worker.start()
    try:
        _wait(stop, parent_pid)
    finally:
        worker.sign_off()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)  # a piece can't be stopped in the middle; it will be computed again


class Worker:
    """The parts of a worker process, wired together."""

    def __init__(
        self, settings: Settings, analyses: Mapping[str, Analysis[Any, Any]], models: Models | None
    ) -> None:
        self._settings = settings
        self._store = open_store(settings)
        set_threads(settings.threads)
        self._device = find_device(settings.device)
        self._queue = settings.queue or self._device.queue
        self._name, self._name_lock = take_name(settings.data_dir / "locks")
        self._secret = secrets.token_urlsafe(32)
        catalogue = Catalogue(settings)
        self._models = model_cache(settings, catalogue, self._device)
        queue = DeviceQueue()
        accuracies = Accuracies(self._store, self._models, queue)
        self._listener = socket.create_server((settings.worker_host, 0))
        # asyncio sets it only on sockets that name their protocol; without it each answer waits 40 ms for an
        # acknowledgement between its head and its body.
        self._listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._server = uvicorn.Server(
            uvicorn.Config(
                create_app(RequestHandler(self._store, catalogue, self._models, accuracies, self._secret)),
                log_level="warning",
                access_log=False,
            )
        )
        place = Workplace(
            self._store, self._name, analyses, models or self._models, self._device, queue,
            settings.data_dir / "locks",
        )  # fmt: skip
        self._analyses = analyses
        self._warm = models is None
        self._engine = Engine(settings, place, self._queue)
        self._heartbeat = Heartbeat(
            self._store, self._name, settings.worker_patience,
            register=self._register, models=self._models.names, tend=self._look_after_others,
        )  # fmt: skip

    def start(self) -> None:
        """Listen, register, take up work."""
        threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._listener]}, name="prompts", daemon=True
        ).start()
        self._heartbeat.start()
        self._engine.start()
        if self._warm:
            threading.Thread(target=_warm_up, name="warm-up", daemon=True).start()
        log.info("worker %s on %s serves queue %s", self._name, self._device.name, self._queue)

    def sign_off(self) -> None:
        """Say that this worker is gone, so that others take its run over at once."""
        self._heartbeat.stop()

    def _register(self) -> None:
        host, port = self._listener.getsockname()[:2]
        with self._store.session() as session:
            workers.register(
                session, self._name, host=socket.gethostname(), device=self._device.name, queue=self._queue,
                memory_bytes=self._device.memory_bytes, address=_address(self._settings, host, port),
                secret=self._secret, patience=self._settings.worker_patience,
            )  # fmt: skip

    def _look_after_others(self) -> None:
        with self._store.session() as session:
            dead = [view.id for view in workers.dead(session) if view.kind == "worker"]
            left_behind = attempts.interrupted(session)
        if dead:
            self._engine.hand_on(dead)
        for run_id in left_behind:
            with self._store.session() as session:
                run = attempts.lock(session, run_id)
                attempts.expire_interrupted(session, run)
                keep(session, run_id, run.last.number, self._analyses)
        with self._store.session() as session:
            workers.forget_old(session)


def model_cache(settings: Settings, catalogue: Catalogue, device: Device) -> ModelCache:
    """The models of the data folder, loaded on this device."""

    def load(key: Key) -> HeadModel:
        model = catalogue.proofs.load(
            catalogue.folder(key.name), name=key.name, dtype=key.dtype, device=device.name,
            attention=key.attention,
        )  # fmt: skip
        if model.info.revision != key.revision or catalogue.info(key.name).revision != key.revision:
            raise Unavailable(
                f"The files of {key.name} changed while it was being loaded.",
                "Try again when they are whole.",
                code="model-changed",
                retry_after=2,
            )
        return model

    return ModelCache(
        load=load,
        size=lambda key: weight_bytes(catalogue.info(key.name, key.dtype)),
        budget=settings.model_memory_bytes or device.memory_bytes // 2,
        limit=device.memory_bytes,
        free=lambda: free_bytes(device.name),
        revision=lambda name: catalogue.info(name).revision,
    )


def _warm_up() -> None:
    """Import what loads models (it takes seconds), so that the first prompt or run needn't wait for it."""
    import headscope.core.model.bridge  # noqa: F401


def _address(settings: Settings, host: str, port: int) -> str:
    # A worker that listens on every address is reached by its host's name.
    named = socket.gethostname() if host in ("0.0.0.0", "::") else settings.worker_host  # noqa: S104
    return f"http://[{named}]:{port}" if ":" in named else f"http://{named}:{port}"


def _wait(stop: threading.Event, parent_pid: int | None) -> None:
    while not stop.wait(0.5):
        if parent_pid is not None and os.getppid() != parent_pid:
            log.warning("The process that started this worker is gone; ending too")
            return
