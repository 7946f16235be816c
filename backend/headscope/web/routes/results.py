"""Reading one run: open to a reader who holds a share of it (`?share=`)."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from fastapi.responses import Response, StreamingResponse

from headscope.web.schemas import FigureOut, ResultOut, RunOut



def reader(
    share: Annotated[str | None, Query(description="A share's token; opens the runs it points to.")] = None,
) -> None:
    """Placeholder."""


router = APIRouter(prefix="/runs/{run_id}", tags=["runs"], dependencies=[Depends(reader)])

Mode = Literal["every", "always", "any"]
Format = Literal["csv", "json", "npz", "html", "png", "svg"]
Theme = Literal["light", "dark"]
Threshold = Annotated[float, Query(ge=0, le=1, description="A head has a role at this score or above.")]


@router.get("", summary="One run with its progress, error and attempts")
def get_run(run_id: str) -> RunOut:
    raise NotImplementedError


@router.get("/result", response_model=ResultOut, summary="The result: parameters, model, arrays")
def get_result(run_id: str) -> Response:
    raise NotImplementedError


@router.get("/figures/{name}", response_model=FigureOut, tags=["figures"], summary="One figure of a run")
def get_figure(
    run_id: str, name: str, threshold: Threshold = 0.5, mode: Mode = "every", theme: Theme = "light"
) -> Response:
    raise NotImplementedError


@router.get(
    "/export",
    response_class=Response,
    summary="Download a run: CSV, JSON, npz, one self-contained HTML file, or a picture",
    responses={200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}},
)
def export_run(
    run_id: str,
    format: Format,  # noqa: A002 - the query's name in the API
    figure: str | None = None,
    threshold: Threshold = 0.5,
    mode: Mode = "every",
    theme: Theme = "light",
) -> Response:
    raise NotImplementedError


@router.get(
    "/events",
    response_class=StreamingResponse,
    summary="Server-sent events: `run` with the run as data at each change, until its final status",
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def run_events(run_id: str) -> StreamingResponse:
    raise NotImplementedError
