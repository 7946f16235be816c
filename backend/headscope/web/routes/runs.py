"""Runs: asking for one, listing, stopping, reproducing and deleting them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from headscope.errors import Refused
from headscope.jobs.client import choose_queue
from headscope.store import runs
from headscope.web.deps import App, StoreSession
from headscope.web.present import run_out
from headscope.web.resolve import ask, ask_again
from headscope.web.schemas import EstimateOut, Problem, RunIn, RunOut, RunsOut, RunStatus

router = APIRouter(prefix="/runs", tags=["runs"])


@router.post("", status_code=202, summary="Start a run, or return the run that this request already has")
def start_run(body: RunIn, response: Response, app: App) -> RunOut:
    """The id is the hash of all that decides the answer: the same request gives the same run.

    404 for an unknown analysis, model or task; 422 for parameters; 409 where no worker's memory suffices;
    503 where the model isn't fetched. 200 where the run is done already.
    """
    with app.store.session() as session:
        request, estimate = ask(app, session, body)
    app.jobs.start(request, choose_queue(app.store, estimate).queue)
    response.headers["Location"] = f"/api/v1/runs/{request.id}"
    with app.store.session() as session:
        run = run_out(session, runs.get(session, request.id), app.models.entries())
    if run.status == "done":
        response.status_code = 200
    return run


@router.post("/estimate", summary="Time and memory of a run before it is sent")
def estimate_run(body: RunIn, app: App) -> EstimateOut:
    """Fails as starting would, but for memory: `refused` then has the problem beside the numbers."""
    with app.store.session() as session:
        request, estimate = ask(app, session, body)
        existing = next(iter(runs.get_many(session, [request.id])), None)
        status = None if existing is None else existing.status
    queue, refused = None, None
    try:
        queue = choose_queue(app.store, estimate).queue
    except Refused as error:
        refused = Problem.model_validate(error.problem())
    return EstimateOut.model_validate(
        {
            "run_id": request.id,
            "existing": status,
            "seconds": estimate.seconds,
            "peak_bytes": estimate.peak_bytes,
            "basis": estimate.basis,
            "queue": queue,
            "refused": refused,
        }
    )


@router.get("", summary="Runs, newest first")
def list_runs(
    app: App,
    session: StoreSession,
    model: str | None = None,
    task: str | None = None,
    analysis: str | None = None,
    status: RunStatus | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
) -> RunsOut:
    """Filtered by what is given; `total` counts all that fit."""
    found, total = runs.find(
        session, model=model, task=task, analysis=analysis, status=status, limit=limit, offset=offset
    )
    entries = app.models.entries()
    return RunsOut(runs=[run_out(session, run, entries) for run in found], total=total)


@router.delete("/{run_id}", status_code=204, summary="Delete a run and its results")
def delete_run(run_id: str, session: StoreSession) -> None:
    """409 while it waits or computes: cancel it first."""
    runs.delete(session, run_id)


@router.post("/{run_id}/cancel", status_code=202, summary="Ask a run to stop")
def cancel_run(run_id: str, app: App) -> RunOut:
    """At once where it waits, within two seconds where it computes; a run that has ended stays as it is."""
    app.jobs.cancel(run_id)
    with app.store.session() as session:
        return run_out(session, runs.get(session, run_id), app.models.entries())


@router.post("/{run_id}/reproduce", status_code=202, summary="Compute a run again and compare")
def reproduce_run(run_id: str, app: App) -> RunOut:
    """Adds an attempt whose `drift` says how far its gates are from the run's; the run's result stays.

    409 where the run isn't done, or where its model or task has changed since.
    """
    with app.store.session() as session:
        run = runs.get(session, run_id)
        if not run.whole:
            raise not_done(run_id, run.status, "complete result")
        _, estimate = ask_again(app, session, run)
    app.jobs.reproduce(run_id, choose_queue(app.store, estimate).queue)
    with app.store.session() as session:
        return run_out(session, runs.get(session, run_id), app.models.entries())


def not_done(run_id: str, status: str, what: str = "result") -> Refused:
    """What a run without a result, or without a whole one, answers where one is asked for."""
    remedy = "Wait until it is done." if status in ("queued", "running") else "Restart it."
    return Refused(f"Run {run_id} has no {what}: it is {status}.", remedy, code="run-not-done")
