"""The worker's own small web server: answers prompts for the web process, guarded by a secret."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from headscope.core.model import HeadModel
from headscope.errors import Forbidden, HeadscopeError
from headscope.jobs.problem import problem_of
from headscope.messages import GatesIn, GatesOut, PatternsIn, PatternsOut, TaskAccuracyOut
from headscope.models.catalogue import Catalogue
from headscope.store.session import Store
from headscope.store.tasks import load_user_tasks
from headscope.tasks.catalogue import TaskCatalogue
from headscope.worker import lab
from headscope.worker.accuracy import Accuracies
from headscope.worker.resident import Resident


@dataclass(frozen=True)
class Desk:
    """What answers need."""

    store: Store
    catalogue: Catalogue
    resident: Resident
    accuracies: Accuracies
    secret: str

    @contextmanager
    def model(self, name: str) -> Iterator[HeadModel]:
        """The model and the device, between two micro-batches of a job."""
        self.catalogue.folder(name)  # an unknown or unfetched model is refused before anything waits
        with (
            self.resident.model(name, dtype="float32", attention="sdpa") as model,
            self.accuracies.turn.interactive(),
        ):
            yield model


class AccuracyIn(BaseModel):
    """A model and a task by name."""

    model: str
    task: str


def create_app(desk: Desk) -> FastAPI:
    """The endpoints ``/patterns``, ``/gates``, ``/accuracy`` and ``/health``."""
    guard = Depends(_guard(desk.secret))
    app = FastAPI(title="Headscope worker", openapi_url=None, dependencies=[guard])
    app.add_exception_handler(HeadscopeError, _problem)
    app.add_exception_handler(Exception, _problem)

    @app.post("/patterns")
    def patterns(wanted: PatternsIn) -> PatternsOut:
        with desk.model(wanted.model) as model:
            return lab.patterns(model, wanted)

    @app.post("/gates")
    def gates(wanted: GatesIn) -> GatesOut:
        with desk.model(wanted.model) as model:
            return lab.gates(model, wanted)

    @app.post("/accuracy")
    def accuracy(wanted: AccuracyIn) -> TaskAccuracyOut:
        with desk.store.session() as session:
            task = TaskCatalogue(load_user_tasks(session)).get(wanted.task)
        return desk.accuracies.ask(desk.catalogue.info(wanted.model), task)

    @app.get("/health")
    def health() -> dict[str, list[str]]:
        return {"models": desk.resident.names()}

    return app


def _guard(secret: str):  # type: ignore[no-untyped-def]
    def check(request: Request) -> None:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if not secrets.compare_digest(given.encode(), secret.encode()):
            raise Forbidden(
                "This endpoint is for Headscope's own processes.", "Use the pages or the API instead."
            )

    return check


def _problem(_: Request, error: Exception) -> JSONResponse:
    problem = problem_of(error)
    return JSONResponse(problem, problem["status"])
