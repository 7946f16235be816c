"""The computing itself: an analysis' plan, piece by piece, each kept before the next begins.

1. Look up the analysis, the task and what the parameters refer to; refuse others than the run was asked for.
2. For each piece of the plan: one that is kept already is not computed again. The first that isn't waits for
   the device (one job a device at a time), loads the model, and is refused where memory doesn't suffice.
3. Join the pieces to the result, which becomes the run's.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Protocol

from sqlalchemy.orm import Session

from headscope.analyses.base import (
    Analysis,
    Context,
    Kept,
    Piece,
    Progress,
    Result,
    Spec,
)
from headscope.analyses.request import identity, named_tasks, run_id
from headscope.core.model.head_model import HeadModel
from headscope.core.model.info import ModelInfo
from headscope.errors import Cancelled, NotFound, Refused
from headscope.jobs.admission import admit_work
from headscope.jobs.device import Device, free_bytes
from headscope.jobs.device_queue import DeviceQueue
from headscope.jobs.lock import FileLock
from headscope.jobs.problem import problem_of
from headscope.jobs.run_monitor import RunMonitor
from headscope.store import artifacts, attempts, references, workers
from headscope.store.attempts import Superseded
from headscope.store.session import Store
from headscope.store.tables import Run
from headscope.store.tasks import load_user_tasks
from headscope.tasks.catalogue import TaskCatalogue
from headscope.tasks.task import Task

log = logging.getLogger(__name__)

Outcome = Literal["done", "failed", "cancelled", "superseded"]

Answer = dict[str, Any]
"""Plain JSON: ``{"artifact": id}`` of a kept piece, or ``{"ended": outcome, "problem": ...}``."""

Step = Callable[[str, Callable[[], Answer]], Answer]
"""Runs named work, or returns what it answered before a crash."""

_KEEPING_PATIENCE = 600.0


class Models(Protocol):
    """Where a model to compute with comes from; it stays loaded while the context is open."""

    def model(self, name: str, *, dtype: str, attention: str) -> AbstractContextManager[HeadModel]:
        """The model, loaded."""
        ...


@dataclass(frozen=True)
class Workplace:
    """What a process computes with. ``owner`` is its id among workers, ``locks`` a folder of lock files."""

    store: Store
    owner: str
    analyses: Mapping[str, Analysis[Any, Any]]
    models: Models
    device: Device
    device_queue: DeviceQueue
    locks: Path


class Computation:
    """One attempt in its owner's hands; a context manager, which at its end lets go of device and model."""

    def __init__(self, place: Workplace, run: Run, number: int, monitor: RunMonitor) -> None:
        self._place, self._run, self._number, self._monitor = place, run, number, monitor
        self._kept = KeptPieces(place.store, {})
        self._held = ExitStack()
        self._done = 0.0

    def __enter__(self) -> Computation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.close()

    def run(self, step: Step) -> Answer:
        """Compute all that isn't kept and finish; answers how the attempt ended."""
        plan = list(self._analysis.plan(self._spec))
        for index, piece in enumerate(plan):
            answer = step(piece.key, _bound(self._piece, plan, index))
            if "artifact" not in answer:
                return answer
            self._kept.names[piece.key] = answer["artifact"]
        self._monitor.check()
        self._finish(self._analysis.assemble(self._spec, self._kept))
        return {"ended": "done"}

    def _piece(self, plan: Sequence[Piece], index: int) -> Answer:
        piece = plan[index]
        names = self._place.store.patiently(
            lambda session: attempts.pieces(session, self._run.id, self._number)
        )
        if piece.key in names:
            return {"artifact": names[piece.key]}
        self._monitor.check()
        context = self._context(plan, index)
        context.report(Progress(piece.label, "", 0, 1))
        with self._place.device_queue.job():
            kept = piece.compute(context)
        self._monitor.check()
        return {"artifact": self._keep(piece, kept)}

    def _keep(self, piece: Piece, kept: Kept) -> str:
        return self._place.store.patiently(
            lambda session: attempts.keep_piece(
                session, self._run.id, self._number, self._place.owner, piece.key, kept
            ),
            _KEEPING_PATIENCE,
        )

    def _context(self, plan: Sequence[Piece], index: int) -> Context:
        weights = [piece.weight for piece in plan]
        self._done, mine = sum(weights[:index]) / sum(weights), weights[index] / sum(weights)
        before = self._done

        def report(progress: Progress) -> None:
            self._monitor.report(replace(progress, fraction=before + mine * progress.fraction))

        def checkpoint() -> None:
            self._monitor.check()
            self._place.device_queue.let_pass(self._monitor.check)

        return Context(self._model, self._kept, checkpoint, report)

    def _finish(self, result: Result) -> None:
        content, numbers = result.to_json(), dict(self._analysis.headline(result))
        self._place.store.patiently(
            lambda session: attempts.finish(
                session, self._run.id, self._number, self._place.owner, content, result.arrays, numbers
            ),
            _KEEPING_PATIENCE,
        )

    @cached_property
    def _analysis(self) -> Analysis[Any, Any]:
        analysis = self._place.analyses.get(self._run.analysis)
        if analysis is None:
            raise NotFound(
                f"This worker knows no analysis {self._run.analysis!r}.",
                "Use the same version of Headscope for the web and for the workers.",
                code="unknown-analysis",
            )
        if analysis.version != self._run.analysis_version:
            raise Refused(
                f"The run asks for version {self._run.analysis_version} of {analysis.title}; this worker has "
                f"version {analysis.version}.",
                "Restart it.",
                code="analysis-version",
            )
        return analysis

    @cached_property
    def _info(self) -> ModelInfo:
        return ModelInfo(**self._run.model_info)

    @cached_property
    def _spec(self) -> Spec[Any]:
        analysis, inputs = self._analysis, {}
        if analysis.references:
            self._check_named_tasks()
            inputs = self._place.store.patiently(
                lambda session: references.look_up(
                    session, analysis, self._run.params, self._info, self._task
                )
            )
        return Spec(analysis.params.model_validate(self._run.params), self._info, self._task, inputs)

    def _check_named_tasks(self) -> None:
        """Refuse a run whose parameters name tasks that have changed: they are part of its id."""
        own = self._place.store.patiently(load_user_tasks)
        named = named_tasks(self._analysis, self._run.params, TaskCatalogue(own))
        asked = identity(self._analysis, self._run.params, self._info, self._task, named)
        if named and run_id(asked) != self._run.id:
            names = sorted({task.name for tasks in named.values() for task in tasks})
            raise Refused(
                f"One of the tasks {', '.join(names)} has changed since the run was asked for.",
                "Restart it: it will be a new run.",
                code="task-changed",
            )

    @cached_property
    def _task(self) -> Task | None:
        if self._run.task is None:
            return None
        own = self._place.store.patiently(load_user_tasks)
        task = TaskCatalogue(own).get(self._run.task)
        if task.content_hash != self._run.task_hash:
            raise Refused(
                f"The task {task.name!r} has changed since the run was asked for.",
                "Restart it: it will be a new run.",
                code="task-changed",
            )
        return task

    @cached_property
    def _model(self) -> HeadModel:
        wait_for_device(
            self._place,
            self._monitor,
            self._held,
            Progress(f"waiting for {self._place.device.title}", "", 0, 1, fraction=self._done),
        )
        self._monitor.say(Progress("loading the model", "", 0, 1, fraction=self._done))
        model = self._held.enter_context(
            self._place.models.model(self._run.model, dtype=self._info.dtype, attention=self._run.attention)
        )
        if model.info.revision != self._info.revision:
            raise Refused(
                f"The weights of {self._run.model!r} here are others than those the run was asked for.",
                "Restart it: it will be a new run.",
                code="model-changed",
            )
        if model.proof is not None:
            model.proof.require(self._analysis.needs)
        estimate = self._analysis.estimate(self._spec, tokenizer=model.tokenizer)
        admit_work(estimate, self._info, self._info.dtype, free_bytes(self._place.device.name))
        return model


class KeptPieces(Mapping[str, Kept]):
    """Kept pieces by key, read from the store when they are asked for."""

    def __init__(self, store: Store, names: dict[str, str]) -> None:
        self.names = names
        self._store = store

    def __getitem__(self, key: str) -> Kept:
        name = self.names[key]
        return self._store.patiently(lambda session: artifacts.get_piece(session, name))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


def guarded(work: Callable[[], Answer]) -> Answer:
    """Do the work; an error becomes the answer that ends the attempt."""
    try:
        return work()
    except Cancelled:
        return {"ended": "cancelled"}
    except Superseded:
        return {"ended": "superseded"}
    except Exception as error:
        problem = problem_of(error)
        if problem["code"] == "internal":
            log.exception("A piece failed")
        return {"ended": "failed", "problem": problem}


def wait_for_device(place: Workplace, monitor: RunMonitor, held: ExitStack, waiting: Progress) -> None:
    """Take the device's lock, however long its holder computes, saying so; raises ``Cancelled`` in between.

    A holder that is declared dead but lives on, because it is stopped, is not waited for.
    """
    lock = FileLock(place.locks / f"{socket.gethostname()}-{place.device.name.replace(':', '-')}.lock")
    while not lock.acquire(note=place.owner):
        if not place.store.patiently(_alive(lock.note())):
            log.warning("%s is held by %s, which is dead: going on without", lock.path.name, lock.note())
            return
        monitor.check()
        monitor.say(waiting)
        time.sleep(0.2)
    held.callback(lock.release)


def _alive(owner: str) -> Callable[[Session], bool]:
    return lambda session: workers.is_alive(session, owner)


def _bound(
    compute: Callable[[Sequence[Piece], int], Answer], plan: Sequence[Piece], index: int
) -> Callable[[], Answer]:
    return lambda: guarded(lambda: compute(plan, index))
