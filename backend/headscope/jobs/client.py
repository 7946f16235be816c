"""The asking side of jobs: start, reproduce, cancel, and which queue to wait in. Loads no torch.

A run and its place in the queue are written in one transaction: a crash leaves both or neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from headscope.analyses import ANALYSES
from headscope.analyses.base import Estimate
from headscope.analyses.request import Request
from headscope.errors import Refused
from headscope.jobs.partial import keep
from headscope.settings import Settings
from headscope.store import runs, workers
from headscope.store.runs import Submitted
from headscope.store.session import Store, open_store
from headscope.store.tables import Run
from headscope.store.workers import WorkerView

if TYPE_CHECKING:
    from dbos import DBOSClient

DEFAULT_QUEUE = "cpu"


@dataclass(frozen=True)
class QueueChoice:
    """Where a run waits, and what the one who asked should know about that."""

    queue: str
    notice: str | None = None


class JobClient:
    """Starts and stops jobs that workers compute. Opens a store of its own unless one is given."""

    def __init__(self, settings: Settings, store: Store | None = None) -> None:
        self._own = store is None
        self.store = store or open_store(settings)

    def start(self, request: Request, queue: str) -> Submitted:
        """The request's run, queued if it is new, failed or was cancelled."""
        with self.store.session() as session:
            submitted = runs.create_or_get(session, request, queue=queue)
            if submitted.new:
                self.enqueue(session, submitted.run, submitted.attempt)
            return submitted

    def reproduce(self, run_id: str, queue: str) -> Submitted:
        """Another attempt at a finished run, queued; one that is under way is returned.

        Raises ``NotFound`` (unknown-run) and ``Refused`` (run-not-done).
        """
        with self.store.session() as session:
            submitted = runs.reproduce(session, run_id, queue=queue)
            if submitted.new:
                self.enqueue(session, submitted.run, submitted.attempt)
            return submitted

    def cancel(self, run_id: str) -> Run:
        """Ask for a stop: at once where nobody computes yet, else within two seconds. Ended runs stay."""
        with self.store.session() as session:
            run = runs.request_cancel(session, run_id)
            if run.status == "cancelled":
                keep(session, run_id, run.last.number, ANALYSES)
            return run

    def submit(self, run_id: str, queue: str, attempt: int) -> None:
        """Queue an attempt that is stored already; idempotent."""
        with self.store.session() as session:
            run = runs.get(session, run_id)
            next(row for row in run.attempts if row.number == attempt).queue = queue
            self.enqueue(session, run, attempt)

    def enqueue(self, session: Session, run: Run, attempt: int) -> None:
        """Queue an attempt as part of the caller's transaction."""
        from headscope.jobs.names import APPLICATION, JOB_FORMAT, WORKFLOW

        row = next(row for row in run.attempts if row.number == attempt)
        session.flush()
        self._engine.enqueue_in_transaction(
            session,
            {
                "workflow_name": WORKFLOW,
                "queue_name": row.queue or DEFAULT_QUEUE,
                # With the time: a run that was deleted and asked for again is another workflow.
                "workflow_id": f"{run.id}-{attempt}-{row.created_at:%Y%m%d%H%M%S%f}",
                "app_version": JOB_FORMAT,
                "application_name": APPLICATION,
            },
            run.id,
            attempt,
        )

    def close(self) -> None:
        """Give the connections back."""
        if self._own:
            self.store.close()

    @cached_property
    def _engine(self) -> DBOSClient:
        from dbos import DBOSClient  # takes half a second to import: not before something is queued

        from headscope.jobs.names import APPLICATION, JsonSerializer

        return DBOSClient(
            system_database_engine=self.store.engine,
            serializer=JsonSerializer(),
            application_name=APPLICATION,
            lazy=True,
            retry_connection_errors=False,
        )


def choose_queue(store: Store, estimate: Estimate) -> QueueChoice:
    """The smallest live class of device that fits the estimate: GPUs before the CPU, less memory before more.

    With no live worker the run waits for one on a CPU, which the notice says. Raises ``Refused`` (too-big)
    with the numbers where no live device has the memory.
    """
    with store.session() as session:
        alive = workers.alive(session)
    if not alive:
        return QueueChoice(DEFAULT_QUEUE, NOBODY)
    fitting = [
        worker for worker in alive if (worker.memory_bytes or estimate.peak_bytes) >= estimate.peak_bytes
    ]
    if not fitting:
        raise too_big(estimate, alive)
    return QueueChoice(min(fitting, key=_size).queue)


def notice(session: Session, run: Run) -> str | None:
    """What is wrong with where a run waits: nobody there to take it. None where all is well."""
    if not run.active or run.queue is None:
        return None
    alive = workers.alive(session)
    if any(worker.queue == run.queue for worker in alive):
        return None
    if not alive:
        return NOBODY
    others = ", ".join(sorted({worker.queue for worker in alive}))
    remedy = f"start one with HEADSCOPE_QUEUE={run.queue}."
    return f"No live worker serves the queue {run.queue!r} (alive: {others}): {remedy}"


def too_big(estimate: Estimate, alive: Sequence[WorkerView]) -> Refused:
    """The refusal for a run that no device in sight can hold."""
    largest = max(alive, key=lambda worker: worker.memory_bytes or 0)
    return Refused(
        f"This needs about {_gib(estimate.peak_bytes)} of memory ({estimate.basis}); the largest live "
        f"worker, {largest.device} on {largest.host}, has {_gib(largest.memory_bytes or 0)}.",
        "Use smaller batches, fewer seeds, "
        "bfloat16 or a smaller model; or start a worker on a larger device.",
        code="too-big",
    )


NOBODY = "No worker is alive: the run waits until one starts (`headscope serve` or `headscope worker`)."


def _size(worker: WorkerView) -> tuple[bool, int]:
    return worker.queue == DEFAULT_QUEUE, worker.memory_bytes or 0


def _gib(count: int) -> str:
    return f"{count / 2**30:.1f} GiB"
