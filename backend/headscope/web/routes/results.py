"""Reading one run: for who may use the server, and for the holder of a share of it (`?share=TOKEN`).

A finished run never changes, so its result and figures carry an ETag: asking again costs nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from sqlalchemy.orm import Session

from headscope import __version__
from headscope.analyses import figures
from headscope.analyses.base import Result
from headscope.store import artifacts, runs
from headscope.store.tables import Run
from headscope.web.deps import (
    App,
    Services,
    ShareToken,
    StoreSession,
    Who,
    check_reader,
    shared_or_signed_in,
)
from headscope.web.events import run_changes
from headscope.web.present import run_out
from headscope.web.routes.runs import not_done
from headscope.web.schemas import FigureOut, ResultOut, RunOut, TableOut

router = APIRouter(prefix="/runs/{run_id}", tags=["runs"], dependencies=[Depends(shared_or_signed_in)])

Mode = Literal["every", "always", "any"]
Format = Literal["csv", "json", "npz", "html", "ipynb", "png", "svg", "heads", "heads.csv", "heads.json"]
Theme = Literal["light", "dark"]
Threshold = Annotated[float, Query(gt=0, le=1, description="Score from which a head has a role.")]
Head = Annotated[
    str | None, Query(max_length=16, description="The head, e.g. 1.5, of a figure about one head.")
]


@router.get("", summary="One run with its progress, error and attempts")
def get_run(run_id: str, app: App, session: StoreSession) -> RunOut:
    """`notice` says where something keeps it from going on, e.g. that no worker is alive."""
    return run_out(session, runs.get(session, run_id), app.models.entries())


@router.get("/result", response_model=ResultOut, summary="The result: parameters, model, arrays")
def get_result(
    run_id: str,
    request: Request,
    app: App,
    session: StoreSession,
    arrays: Annotated[bool, Query(description="Send the arrays too, which may be large.")] = True,
) -> Response:
    """409 while there is none, telling the run's status. NaN survives in the typed arrays."""
    run = runs.get(session, run_id)
    stored = result_id(run)
    if arrays:
        return unchanging(request, stored, lambda: artifacts.get(session, stored))
    result = result_of(app, session, run)
    return unchanging(request, (stored, "values"), lambda: compact(result.to_json(with_arrays=False)))


@router.get("/figures/{name}", response_model=FigureOut, tags=["figures"], summary="One figure of a run")
def get_figure(
    run_id: str,
    name: str,
    request: Request,
    app: App,
    session: StoreSession,
    threshold: Threshold = 0.5,
    mode: Mode = "every",
    theme: Theme = "light",
    head: Head = None,
) -> Response:
    """Plotly JSON with typed arrays and without template. `theme` decides the traces' own colours."""
    run = runs.get(session, run_id)
    key = (result_id(run), "figure", name, threshold, mode, theme, head)

    def build() -> bytes:
        return compact(figures.build(result_of(app, session, run), name, threshold, mode, theme, head))

    return unchanging(request, key, lambda: app.figures.get(key, build))


@router.get(
    "/tables/{name}", response_model=TableOut, tags=["figures"], summary="A figure's numbers as a table"
)
def get_table(
    run_id: str,
    name: str,
    request: Request,
    app: App,
    session: StoreSession,
    threshold: Threshold = 0.5,
    mode: Mode = "every",
    head: Head = None,
) -> Response:
    """The figure's twin for readers and programs: the same content at full resolution."""
    run = runs.get(session, run_id)
    key = (result_id(run), "table", name, threshold, mode, head)

    def build() -> bytes:
        return compact(figures.table(result_of(app, session, run), name, threshold, mode, head))

    return unchanging(request, key, lambda: app.figures.get(key, build))


@router.get(
    "/export",
    response_class=Response,
    summary="Download a run: CSV, JSON, npz, heads, one HTML file, a notebook, or a picture",
    responses={
        200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
    },
)
def export_run(
    run_id: str,
    format: Format,  # noqa: A002 - the query's name in the API
    app: App,
    figure: Annotated[str | None, Query(max_length=64)] = None,
    threshold: Threshold = 0.5,
    mode: Mode = "every",
    theme: Theme = "light",
    head: Head = None,
) -> Response:
    """`figure` picks one figure. `heads`, `heads.csv`, `heads.json` list the heads that a gating run needs
    (at `threshold`; by `mode` in all fits, half, or one) or that a circuit test is of; 409 (no-heads) for
    runs that give none. 503 for PNG and SVG where the server has no Chromium to draw them with.
    """
    from headscope.analyses.export import export

    with app.store.session() as session:  # and no longer: a picture takes seconds to draw
        run = runs.get(session, run_id)
        result = result_of(app, session, run)
        facts = run_out(session, run, app.models.entries()).model_dump()
    file = export(
        result, format, facts, figure=figure, threshold=threshold, mode=mode, theme=theme, head=head
    )
    return Response(
        file.content,
        media_type=file.media_type,
        headers={"Content-Disposition": f'attachment; filename="{file.filename}"'},
    )


def reader(run_id: str, app: App, who: Who, share: ShareToken = None) -> Callable[[], RunOut]:
    """Reads the run, as often as it is called; once here, so that what is wrong is an answer and no event."""
    entries = app.models.entries()

    def read() -> RunOut:
        with app.store.session() as session:
            check_reader(session, run_id, who, share)
            return run_out(session, runs.get(session, run_id), entries)

    read()
    return read


@router.get(
    "/events",
    response_class=EventSourceResponse,
    summary="Server-sent events: `run` with the run as data at each change, until its final status",
)
async def run_events(
    read: Annotated[Callable[[], RunOut], Depends(reader)],
) -> AsyncIterator[ServerSentEvent]:
    """Event `problem` (data: a problem) ends it too: the run was deleted, or the share that opened it was
    revoked or expired meanwhile, or the database stays away.
    """
    async for event in run_changes(read):
        yield event


def result_id(run: Run) -> str:
    """What names the run's result; ``Refused`` (run-not-done) where there is none."""
    if run.result_id is None:
        raise not_done(run.id, run.status)
    return run.result_id


def result_of(app: Services, session: Session, run: Run) -> Result:
    """The run's result, kept decoded while it is looked at; ``Refused`` where there is none."""
    return app.results.get(result_id(run), lambda: runs.result(session, run.id))


def compact(content: Any) -> bytes:
    """JSON without blanks; arrays in it are typed, so NaN has no place."""
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def unchanging(request: Request, key: object, content: Callable[[], bytes]) -> Response:
    """JSON that only another version of the program would write differently: 304 where the reader has it."""
    etag = f'"{hashlib.sha256(repr((__version__, key)).encode()).hexdigest()[:24]}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(content(), media_type="application/json", headers=headers)
