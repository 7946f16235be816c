from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from headscope.web.schemas import EstimateOut, RunIn, RunOut, RunsOut, RunStatus

router = APIRouter(prefix="/runs", tags=["runs"])


@router.post("", status_code=202, summary="Start a run, or return the run that this request already has")
def start_run(body: RunIn, response: Response) -> RunOut:
    raise NotImplementedError


@router.post("/estimate", summary="Time and memory of a run before it is sent")
def estimate_run(body: RunIn) -> EstimateOut:
    raise NotImplementedError


@router.get("", summary="Runs, newest first")
def list_runs(
    model: str | None = None,
    task: str | None = None,
    analysis: str | None = None,
    status: RunStatus | None = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> RunsOut:
    raise NotImplementedError


@router.delete("/{run_id}", status_code=204, summary="Delete a run and its results")
def delete_run(run_id: str) -> None:
    raise NotImplementedError


@router.post("/{run_id}/cancel", status_code=202, summary="Ask a run to stop")
def cancel_run(run_id: str) -> RunOut:
    raise NotImplementedError


@router.post("/{run_id}/reproduce", status_code=202, summary="Compute a run again and compare")
def reproduce_run(run_id: str) -> RunOut:
    raise NotImplementedError
