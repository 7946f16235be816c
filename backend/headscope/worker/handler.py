"""Interactive requests: admitted, given their model, computed when the device is free."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from headscope.core.model.capabilities import Capability
from headscope.core.model.head_model import HeadModel
from headscope.core.model.memory import unembedding_bytes
from headscope.errors import Refused, Unavailable
from headscope.jobs.device import free_bytes
from headscope.jobs.device_queue import DeviceQueue
from headscope.messages import LabIn, ProofIn, ProofOut
from headscope.messages.circuits import CircuitIn
from headscope.models.catalogue import Catalogue
from headscope.store.session import Store
from headscope.store.tasks import load_user_tasks
from headscope.tasks.catalogue import TaskCatalogue
from headscope.tasks.task import Task
from headscope.worker.accuracy import Accuracies
from headscope.worker.lab.gates import ReadingCache
from headscope.worker.lab.plan import Plan, admit
from headscope.worker.lab.prompt import Prompt, read
from headscope.worker.lab.references import References
from headscope.worker.lab.repeats import RepeatScores
from headscope.worker.latest import LatestRequests
from headscope.worker.model_cache import ModelCache

MOST_INSIDE = 32
"""Requests that wait or are computed; the server's threads are 40, and accuracy and health need some."""

Asked = TypeVar("Asked", bound=LabIn)
Looked = TypeVar("Looked", bound=CircuitIn)
Out = TypeVar("Out")
Planner = Callable[[HeadModel, Prompt, Asked], Plan[Out]]


@dataclass(frozen=True)
class RequestHandler:
    """Admits requests and answers them; safe to use from many threads."""

    store: Store
    catalogue: Catalogue
    models: ModelCache
    accuracies: Accuracies
    secret: str
    latest: LatestRequests = field(default_factory=LatestRequests)
    readings: ReadingCache = field(default_factory=ReadingCache)
    repeat_scores: RepeatScores = field(default_factory=RepeatScores)
    _inside: threading.BoundedSemaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(MOST_INSIDE)
    )

    @cached_property
    def references(self) -> References:
        """What closed heads give, by the task that a request names."""
        return References(self.task)

    def task(self, name: str) -> Task:
        """A task by its name; ``NotFound`` (unknown-task)."""
        with self.store.session() as session:
            return TaskCatalogue(load_user_tasks(session)).get(name)

    @property
    def device_queue(self) -> DeviceQueue:
        """Shared with jobs and with background evaluations."""
        return self.accuracies.device_queue

    def answer(self, wanted: Asked, plan: Planner[Asked, Out], needs: tuple[Capability, ...] = ()) -> Out:
        """Check the request, wait for the model and for the device (a job's micro-batch at most), compute.

        Raises ``NotFound`` or ``Unavailable`` (unknown-model, model-not-fetched, model-loading, worker-busy),
        ``Invalid`` for what can't be computed, ``Refused`` for what doesn't fit (no-room, model-too-big), is
        out of date (superseded) or ``needs`` what was found wrong of the model (not-proved).
        """
        newest = self.latest.enter(type(wanted).__name__, wanted.board, wanted.turn)
        with self._model(wanted.model, wanted.wait, needs) as model:
            prompt = read(model, wanted)
            work = plan(model, prompt, wanted)
            admit(work, len(prompt), free_bytes(str(model.device)))
            with self.device_queue.interactive(newest):
                return work.run()

    def look_up(self, wanted: Looked, work: Callable[[HeadModel, Looked], Out]) -> Out:
        """The same for a question about the weights, without a prompt."""
        with self._model(wanted.model, wanted.wait, ("circuits",)) as model:
            needed, free = unembedding_bytes(model.info), free_bytes(str(model.device))
            if needed > free:
                raise Refused(
                    f"This takes {needed / 1e9:.2g} GB of memory; {free / 1e9:.2g} GB are free.",
                    "Try again when a job is done.",
                    code="no-room",
                )
            with self.device_queue.interactive():
                return work(model, wanted)

    def check(self, wanted: ProofIn) -> ProofOut:
        """What is proved of a model: kept from its first load, or made now; anew where that is asked for."""
        with self._model(wanted.model, wanted.wait) as model:
            proof = model.proof
            if wanted.anew or proof is None:
                with self.device_queue.interactive():
                    proof = self.catalogue.proofs.prove(model)
            return ProofOut.of(proof)

    @contextmanager
    def _model(
        self, name: str, wait: float, needs: tuple[Capability, ...] | None = None
    ) -> Iterator[HeadModel]:
        self.catalogue.folder(name)  # an unknown or unfetched model is refused before anything waits
        if not self._inside.acquire(blocking=False):
            raise Unavailable(
                f"{MOST_INSIDE} requests wait for this worker already.",
                "Try again in a few seconds.",
                code="worker-busy",
                retry_after=2,
            )
        try:
            with self.models.model(name, dtype="float32", attention="sdpa", wait=wait) as model:
                if needs is not None and model.proof is not None:
                    model.proof.require(needs)
                yield model
        finally:
            self._inside.release()
