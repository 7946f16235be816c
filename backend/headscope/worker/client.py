"""The asking side of interactive work: a live worker answers over local HTTP. Loads no torch.

A worker that holds the model already goes first. One that can't be reached is passed over; where none
answers, the error says so: a page never waits for a worker that is dead.
"""

from __future__ import annotations

from typing import Literal

import httpx
from pydantic import ValidationError

from headscope.core.model.info import ModelInfo
from headscope.errors import (
    Forbidden,
    HeadscopeError,
    Invalid,
    NotFound,
    Refused,
    TooLarge,
    Unavailable,
)
from headscope.messages import AccuracyIn, TaskAccuracyOut
from headscope.messages.questions import ACCURACY, In, Out, Question
from headscope.store import evaluations, workers
from headscope.store.session import Store
from headscope.store.workers import WorkerView
from headscope.tasks.task import Task

PATIENCE = httpx.Timeout(180.0, connect=3.0)
"""Seconds: a long text on a large model, behind other prompts."""

ACCURACY_PATIENCE = httpx.Timeout(3.0)
"""Seconds: an accuracy that isn't there yet is asked for again; pages needn't wait for a worker that is busy.
"""


class WorkerClient:
    """Asks workers that the store knows. Safe to use from many threads."""

    def __init__(self, store: Store, timeout: httpx.Timeout = PATIENCE) -> None:
        self._store = store
        self._http = httpx.Client(timeout=timeout, trust_env=False)

    def ask(self, question: Question[In, Out], wanted: In, timeout: httpx.Timeout | None = None) -> Out:
        """What a live worker answers.

        Raises what the worker raises, or ``Unavailable``: no-worker, worker-slow, worker-died, worker-answer.
        """
        for worker in self._alive(wanted.model):
            try:
                answer = self._http.post(
                    f"{worker.address}{question.path}",
                    json=wanted.model_dump(mode="json"),
                    headers={"Authorization": f"Bearer {worker.secret}"},
                    timeout=timeout or self._http.timeout,
                )
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue  # it died a moment ago; another may live
            except httpx.TimeoutException as error:
                raise Unavailable(
                    f"The worker on {worker.host} took too long to answer.",
                    "Try a shorter text, or try again when its job is done.",
                    code="worker-slow",
                ) from error
            except httpx.TransportError as error:
                raise Unavailable(
                    "The worker ended while it was answering.",
                    "It restarts by itself under `headscope serve`: try again in a few seconds. If it ends "
                    "again, shorten the text: memory may have run out.",
                    code="worker-died",
                ) from error
            return _read(answer, question.answers)
        raise Unavailable(
            "No worker is alive to answer this.",
            "Start one with `headscope worker`; under `headscope serve` it comes back by itself.",
            code="no-worker",
        )

    def accuracy(self, model: ModelInfo, task: Task) -> TaskAccuracyOut:
        """How a model does on a task without gates: kept, being computed (try again), or why not."""
        with self._store.session() as session:
            kept = evaluations.get(session, model.name, model.revision, task.name, task.content_hash)
        if kept is not None:
            return TaskAccuracyOut.model_validate(kept)
        try:
            wanted = AccuracyIn(model=model.name, task=task.name)
            return self.ask(ACCURACY, wanted, ACCURACY_PATIENCE)
        except Unavailable as error:
            if error.code == "worker-slow":
                return no_accuracy(model.name, task.name, "computing", "The worker is busy; try again soon.")
            return no_accuracy(model.name, task.name, "unavailable", str(error))

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def _alive(self, model: str) -> list[WorkerView]:
        with self._store.session() as session:
            alive = [worker for worker in workers.alive(session) if worker.address]
        return sorted(alive, key=lambda worker: model not in worker.models)


def no_accuracy(
    model: str, task: str, status: Literal["computing", "unavailable"], detail: str
) -> TaskAccuracyOut:
    """The answer while there is no accuracy, or can't be one."""
    return TaskAccuracyOut(
        task=task, model=model, status=status, accuracy=None, log_probability=None, chance=None, n=None,
        verdict=None, detail=detail,
    )  # fmt: skip


def _read(answer: httpx.Response, out: type[Out]) -> Out:
    try:
        if answer.is_success:
            return out.model_validate_json(answer.content)
        said = answer.json()
        after = answer.headers.get("retry-after")
        kind = _ERRORS.get(answer.status_code, Unavailable)
        error = kind(said["detail"], said["remedy"], code=said["code"])
        error.retry_after = int(after) if after else None
        raise error
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        raise Unavailable(
            f"The worker gave an answer that can't be read (HTTP {answer.status_code}).",
            "Use the same version of Headscope for the web and for the workers.",
            code="worker-answer",
        ) from error


_ERRORS: dict[int, type[HeadscopeError]] = {
    error.status: error for error in (NotFound, Invalid, TooLarge, Refused, Forbidden, Unavailable)
}
