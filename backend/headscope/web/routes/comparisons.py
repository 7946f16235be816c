"""Comparisons: several finished gating runs side by side, for readers of every one of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import Response
from sqlalchemy.orm import Session

from headscope.analyses import comparisons
from headscope.analyses.comparisons import Compared
from headscope.store import runs
from headscope.web.deps import App, Services, ShareToken, StoreSession, Who, check_reader
from headscope.web.routes.results import Mode, Theme, Threshold, compact, result_id, result_of, unchanging
from headscope.web.schemas import ComparisonFigureOut, ComparisonOut, RunId, TableOut
from headscope.web.security import sign_in_needed


def shared_or_signed_in(who: Who, share: ShareToken = None) -> None:
    """Turn strangers away before anything else is looked at. Raises ``SignInNeeded``."""
    if who == "sign-in-needed" and share is None:
        raise sign_in_needed()


listing = APIRouter(prefix="/comparisons", tags=["comparisons"])
router = APIRouter(prefix="/comparisons", tags=["comparisons"], dependencies=[Depends(shared_or_signed_in)])

Runs = Annotated[
    list[RunId],
    Query(max_length=comparisons.MOST, description="A finished run of `chg`; repeat it for each one."),
]
Score = Annotated[
    Literal["facilitation", "interference", "irrelevance"],
    Query(description="Which score, in a view that shows one at a time."),
]
Published = Annotated[bool, Query(description="Show the paper's values beside the runs.")]
Common = Annotated[bool, Query(description="Shares at the smallest number of seeds of any run.")]
Format = Literal["csv", "json", "html", "png", "svg"]


class ComparisonQuery:
    """The runs and how they are looked at, out of the query."""

    def __init__(
        self,
        run: Runs,
        threshold: Threshold = 0.5,
        mode: Mode = "every",
        score: Score = "facilitation",
        published: Published = True,
        common: Common = False,
    ) -> None:
        self.run_ids = list(dict.fromkeys(run))
        self.view: dict[str, Any] = {
            "threshold": threshold, "mode": mode, "score": score, "published": published, "common": common,
        }  # fmt: skip


def readable(
    asked: Annotated[ComparisonQuery, Depends()], who: Who, session: StoreSession, share: ShareToken = None
) -> ComparisonQuery:
    """Let those through who may read each of the runs. Raises ``SignInNeeded``, ``NotFound``."""
    for run_id in asked.run_ids:
        check_reader(session, run_id, who, share)
    return asked


Readable = Annotated[ComparisonQuery, Depends(readable)]


@listing.get("", summary="The comparisons there are, and what each needs")
def list_comparisons() -> list[ComparisonOut]:
    """The same for every reader; says nothing about this installation."""
    return [
        ComparisonOut(
            name=one.name,
            title=one.title,
            summary=one.summary,
            least_runs=one.least,
            most_runs=comparisons.MOST,
            one_model=one.one_model,
            follows=list(one.follows),
        )
        for one in comparisons.COMPARISONS.values()
    ]


@router.get("/{name}", response_model=ComparisonFigureOut, summary="One figure over several runs")
def get_comparison(
    name: str, request: Request, app: App, session: StoreSession, asked: Readable, theme: Theme = "light"
) -> Response:
    """Plotly JSON with typed arrays and without template; `layout.meta.notes` says how the runs differ.

    404 for an unknown comparison or run; 409 for a run without a result; 422 for too few runs, for runs of
    another analysis or weight processing, and for different models where heads are matched one by one.
    """
    compared = compared_runs(app, session, asked.run_ids)
    key = _key(session, compared, "figure", name, theme, *asked.view.values())

    def build() -> bytes:
        return compact(comparisons.build(name, compared, theme=theme, **asked.view))

    return unchanging(request, key, lambda: app.figures.get(key, build))


@router.get("/{name}/table", response_model=TableOut, summary="A comparison's numbers as a table")
def get_comparison_table(
    name: str, request: Request, app: App, session: StoreSession, asked: Readable
) -> Response:
    """The figure's twin; of correlation and overlap it holds all three scores. Fails as the figure does."""
    compared = compared_runs(app, session, asked.run_ids)
    key = _key(session, compared, "table", name, *asked.view.values())

    def build() -> bytes:
        return compact(comparisons.table(name, compared, **asked.view))

    return unchanging(request, key, lambda: app.figures.get(key, build))


@router.get(
    "/{name}/export",
    response_class=Response,
    summary="Download a comparison: CSV, JSON, one self-contained HTML file, or a picture",
    responses={
        200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
    },
)
def export_comparison(
    name: str,
    format: Format,  # noqa: A002 - the query's name in the API
    app: App,
    asked: Readable,
    theme: Theme = "light",
) -> Response:
    """503 for PNG and SVG where the server has no Chromium to draw them with. Fails as the figure does."""
    from headscope.analyses.export.compared import export

    with app.store.session() as session:  # and no longer: a picture takes seconds to draw
        compared = compared_runs(app, session, asked.run_ids)
    file = export(name, compared, format, comparisons.look(theme=theme, **asked.view), theme)
    return Response(
        file.content,
        media_type=file.media_type,
        headers={"Content-Disposition": f'attachment; filename="{file.filename}"'},
    )


def compared_runs(app: Services, session: Session, run_ids: list[str]) -> list[Compared]:
    """The runs with their results and their models' titles; ``NotFound``, ``Refused`` (run-not-done)."""
    titles = app.models.titles()
    found = [runs.get(session, run_id) for run_id in run_ids]
    return [Compared(result_of(app, session, run), run.id, titles.get(run.model, run.model)) for run in found]


def _key(session: Session, compared: list[Compared], *what: object) -> tuple[object, ...]:
    """What decides an answer: the results, what the models are called, and how they are looked at."""
    named = [(result_id(runs.get(session, one.run)), one.run, one.model) for one in compared]
    return (*named, "comparison", *what)
