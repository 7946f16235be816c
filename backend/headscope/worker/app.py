"""The worker's own small web server: answers prompts for the web process, guarded by a secret."""

from __future__ import annotations

import secrets
from functools import partial

from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from headscope.errors import Forbidden, HeadscopeError
from headscope.jobs.problem import problem_of
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
from headscope.store.tasks import load_user_tasks
from headscope.tasks.catalogue import TaskCatalogue
from headscope.worker.circuits import lookups
from headscope.worker.desk import Desk
from headscope.worker.lab import ablation as lab_ablation
from headscope.worker.lab import attribution as lab_attribution
from headscope.worker.lab import continuation as lab_continuation
from headscope.worker.lab import gates as lab_gates
from headscope.worker.lab import lens as lab_lens
from headscope.worker.lab import look as lab_look
from headscope.worker.lab import patterns as lab_patterns


class AccuracyIn(BaseModel):
    """A model and a task by name."""

    model: str
    task: str


def create_app(desk: Desk) -> FastAPI:
    """An endpoint for each question of the lab and of circuits, ``/accuracy`` and ``/health``."""
    guard = Depends(_guard(desk.secret))
    app = FastAPI(title="Headscope worker", openapi_url=None, dependencies=[guard])
    app.add_exception_handler(HeadscopeError, _problem)
    app.add_exception_handler(Exception, _problem)
    _add_lab(app, desk)
    _add_circuits(app, desk)

    @app.post("/accuracy")
    def accuracy(wanted: AccuracyIn) -> TaskAccuracyOut:
        with desk.store.session() as session:
            task = TaskCatalogue(load_user_tasks(session)).get(wanted.task)
        return desk.accuracies.ask(desk.catalogue.info(wanted.model), task)

    @app.get("/health")
    def health() -> dict[str, list[str]]:
        return {"models": desk.resident.names()}

    return app


def _add_lab(app: FastAPI, desk: Desk) -> None:
    @app.post("/look")
    def look(wanted: LookIn) -> LookOut:
        return desk.answer(wanted, lab_look.plan)

    @app.post("/patterns")
    def patterns(wanted: PatternsIn) -> PatternsOut:
        return desk.answer(wanted, lab_patterns.plan)

    @app.post("/gates")
    def gates(wanted: GatesIn) -> GatesOut:
        return desk.answer(wanted, partial(lab_gates.plan, kept=desk.kept))

    @app.post("/continue")
    def continue_prompt(wanted: ContinueIn) -> ContinueOut:
        lend = desk.accuracies.turn.alternate
        return desk.answer(wanted, partial(lab_continuation.plan, between=lend))

    @app.post("/ablation")
    def ablation(wanted: HeadAblationIn) -> HeadAblationOut:
        return desk.answer(wanted, lab_ablation.plan)

    @app.post("/attribution")
    def attribution(wanted: AttributionIn) -> AttributionOut:
        return desk.answer(wanted, lab_attribution.plan)

    @app.post("/lens")
    def lens(wanted: LensIn) -> LensOut:
        return desk.answer(wanted, lab_lens.plan)


def _add_circuits(app: FastAPI, desk: Desk) -> None:
    @app.post("/circuits/tables")
    def tables(wanted: TablesIn) -> TablesOut:
        return desk.look_up(wanted, lookups.tables)

    @app.post("/circuits/crossed")
    def crossed(wanted: CrossedIn) -> CrossedOut:
        return desk.look_up(wanted, lookups.crossed)

    @app.post("/circuits/virtual")
    def virtual(wanted: VirtualIn) -> VirtualOut:
        return desk.look_up(wanted, lookups.virtual)


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
    after = error.retry_after if isinstance(error, HeadscopeError) else None
    return JSONResponse(problem, problem["status"], {} if after is None else {"Retry-After": str(after)})
