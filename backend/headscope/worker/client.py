"""The asking side of interactive work: a live worker answers over local HTTP. Loads no torch.

A worker that holds the model already goes first. One that can't be reached is passed over; where none
answers, the error says so: a page never waits for a worker that is dead.
"""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

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
from headscope.messages import (
    AttributionIn,
    AttributionOut,
    ContinueIn,
    ContinueOut,
    GatesIn,
    GatesOut,
    HeadAblationIn,
    HeadAblationOut,
    LensIn,
    LensOut,
    LookIn,
    LookOut,
    PatternsIn,
    PatternsOut,
    TaskAccuracyOut,
)
from headscope.messages.circuits import (
    CrossedIn,
    CrossedOut,
    TablesIn,
    TablesOut,
    VirtualIn,
    VirtualOut,
)
from headscope.store import evaluations, workers
from headscope.store.session import Store
from headscope.store.workers import WorkerView
from headscope.tasks.task import Task

Out = TypeVar("Out", bound=BaseModel)

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

    def look(self, wanted: LookIn) -> LookOut:
        """All heads on a text: scores, losses, repeats, thumbnails."""
        return self._ask("look", wanted, LookOut)

    def patterns(self, wanted: PatternsIn) -> PatternsOut:
        """Attention patterns of a text, every layer or those named."""
        return self._ask("patterns", wanted, PatternsOut)

    def gates(self, wanted: GatesIn) -> GatesOut:
        """What gates on every head do to a text: next tokens, losses, divergence."""
        return self._ask("gates", wanted, GatesOut)

    def continue_prompt(self, wanted: ContinueIn) -> ContinueOut:
        """What the model writes after a text, as it is and gated."""
        return self._ask("continue", wanted, ContinueOut)

    def ablation(self, wanted: HeadAblationIn) -> HeadAblationOut:
        """Losses with one head gated off, patterns frozen and free."""
        return self._ask("ablation", wanted, HeadAblationOut)

    def attribution(self, wanted: AttributionIn) -> AttributionOut:
        """A logit as a sum over heads and the model's other parts."""
        return self._ask("attribution", wanted, AttributionOut)

    def lens(self, wanted: LensIn) -> LensOut:
        """What each layer would predict."""
        return self._ask("lens", wanted, LensOut)

    def circuit_tables(self, wanted: TablesIn) -> TablesOut:
        """The strongest cells of a head's token table."""
        return self._ask("circuits/tables", wanted, TablesOut)

    def circuit_crossed(self, wanted: CrossedIn) -> CrossedOut:
        """Skip trigrams that a head can't keep apart."""
        return self._ask("circuits/crossed", wanted, CrossedOut)

    def circuit_virtual(self, wanted: VirtualIn) -> VirtualOut:
        """What one component reads of what another one writes."""
        return self._ask("circuits/virtual", wanted, VirtualOut)

    def accuracy(self, model: ModelInfo, task: Task) -> TaskAccuracyOut:
        """How a model does on a task without gates: kept, being computed (ask again), or why not."""
        with self._store.session() as session:
            kept = evaluations.get(session, model.name, model.revision, task.name, task.content_hash)
        if kept is not None:
            return TaskAccuracyOut.model_validate(kept)
        try:
            wanted = {"model": model.name, "task": task.name}
            return self._ask("accuracy", wanted, TaskAccuracyOut, ACCURACY_PATIENCE)
        except Unavailable as error:
            if error.code == "worker-slow":
                return no_accuracy(model.name, task.name, "computing", "The worker is busy; ask again soon.")
            return no_accuracy(model.name, task.name, "unavailable", str(error))

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def _ask(
        self,
        path: str,
        wanted: BaseModel | dict[str, Any],
        out: type[Out],
        patience: httpx.Timeout | None = None,
    ) -> Out:
        body = wanted.model_dump(mode="json") if isinstance(wanted, BaseModel) else wanted
        for worker in self._alive(body["model"]):
            try:
                answer = self._http.post(
                    f"{worker.address}/{path}",
                    json=body,
                    headers={"Authorization": f"Bearer {worker.secret}"},
                    timeout=patience or self._http.timeout,
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
                    "It starts again by itself under `headscope serve`: try again in a few seconds. If it "
                    "ends again, shorten the text: memory may have run out.",
                    code="worker-died",
                ) from error
            return _read(answer, out)
        raise Unavailable(
            "No worker is alive to answer this.",
            "Start one with `headscope worker`; under `headscope serve` it comes back by itself.",
            code="no-worker",
        )

    def _alive(self, model: str) -> list[WorkerView]:
        with self._store.session() as session:
            alive = [worker for worker in workers.alive(session) if worker.address]
        return sorted(alive, key=lambda worker: model not in worker.models)


def no_accuracy(
    model: str, task: str, status: Literal["computing", "unavailable"], detail: str
) -> TaskAccuracyOut:
    """What there is to say before, or instead of, an accuracy."""
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
