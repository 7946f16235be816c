"""Where prompts are answered: admission, the model, the device's next turn."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from headscope.core.model.head_model import HeadModel
from headscope.errors import Refused, Unavailable
from headscope.jobs.device import free_bytes
from headscope.messages import LabIn
from headscope.messages.circuits import CircuitIn
from headscope.models.catalogue import Catalogue
from headscope.store.session import Store
from headscope.worker.accuracy import Accuracies
from headscope.worker.boards import Boards
from headscope.worker.circuits.lookups import lookup_bytes
from headscope.worker.lab.gates import Kept
from headscope.worker.lab.plan import Plan, admit
from headscope.worker.lab.prompt import Prompt, read
from headscope.worker.resident import Resident

MOST_INSIDE = 32
"""Requests in hand; the server's threads are 40, and accuracy and health need some."""

Asked = TypeVar("Asked", bound=LabIn)
Looked = TypeVar("Looked", bound=CircuitIn)
Out = TypeVar("Out")
Planner = Callable[[HeadModel, Prompt, Asked], Plan[Out]]


@dataclass(frozen=True)
class Desk:
    """What answers need."""

    store: Store
    catalogue: Catalogue
    resident: Resident
    accuracies: Accuracies
    secret: str
    boards: Boards = field(default_factory=Boards)
    kept: Kept = field(default_factory=Kept)
    _inside: threading.BoundedSemaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(MOST_INSIDE)
    )

    def answer(self, wanted: Asked, plan: Planner[Asked, Out]) -> Out:
        """Check the request, wait for the model and for the device (a job's micro-batch at most), compute.

        Raises ``NotFound`` or ``Unavailable`` (unknown-model, model-not-fetched, model-loading, worker-busy),
        ``Invalid`` for what can't be computed, ``Refused`` for what doesn't fit (no-room, model-too-big) or
        is out of date (superseded).
        """
        newest = self.boards.enter(type(wanted).__name__, wanted.board, wanted.turn)
        with self._model(wanted.model, wanted.wait) as model:
            prompt = read(model, wanted)
            work = plan(model, prompt, wanted)
            admit(work, len(prompt), free_bytes(str(model.device)))
            with self.accuracies.turn.interactive(newest):
                return work.run()

    def look_up(self, wanted: Looked, work: Callable[[HeadModel, Looked], Out]) -> Out:
        """The same for a question about the weights, without a prompt."""
        with self._model(wanted.model, wanted.wait) as model:
            needed, free = lookup_bytes(model.info), free_bytes(str(model.device))
            if needed > free:
                raise Refused(
                    f"This takes {needed / 1e9:.2g} GB of memory; {free / 1e9:.2g} GB are free.",
                    "Try again when a job is done.",
                    code="no-room",
                )
            with self.accuracies.turn.interactive():
                return work(model, wanted)

    @contextmanager
    def _model(self, name: str, wait: float) -> Iterator[HeadModel]:
        self.catalogue.folder(name)  # an unknown or unfetched model is refused before anything waits
        if not self._inside.acquire(blocking=False):
            raise Unavailable(
                f"{MOST_INSIDE} requests wait for this worker already.",
                "Ask again in a few seconds.",
                code="worker-busy",
                retry_after=2,
            )
        try:
            with self.resident.model(name, dtype="float32", attention="sdpa", wait=wait) as model:
                yield model
        finally:
            self._inside.release()
