"""Every figure, table and file of every shipped run and every analysis, by the API, as pages ask for them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from html import escape
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from figures.samples import SAMPLES
from headscope.analyses import ANALYSES, figures
from headscope.analyses.base import Result
from headscope.core.model.head_list import read_heads
from headscope.errors import Invalid
from headscope.gallery import import_gallery, shipped
from headscope.settings import Settings
from headscope.store import migrate, runs
from headscope.store.session import open_store
from web.conftest import browser, request_for

VIEWS: tuple[dict[str, str], ...] = (
    {},
    {"threshold": "0.8", "mode": "always", "theme": "dark"},
    {"threshold": "0.05", "mode": "any", "theme": "light", "head": "0.1"},
)
SHIPPED = {path.name.removesuffix(".json.gz"): path for path in shipped.files()}
RUNS = [*SHIPPED, *(f"sample {analysis}" for analysis in ANALYSES)]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """One app with what ships and a small run of every analysis."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("exports"))
    migrate.upgrade(settings)
    store = open_store(settings)
    import_gallery(store)
    with store.session() as session:
        for analysis in ANALYSES:
            result = SAMPLES[analysis]()
            runs.add_finished(
                session,
                request_for(f"sample-{analysis}", result, analysis=analysis, params=dict(result.params)),
                result,
                dict(ANALYSES[analysis].headline(result)),
                origin="local",
                code_version="0.1.0",
                machine="2 cores",
                wall_seconds=1.0,
                finished_at=datetime(2026, 1, 5, tzinfo=UTC),
            )
    store.close()
    with browser(settings) as client:
        yield client


def known(name: str) -> tuple[str, Result]:
    """A run's id and its result."""
    if name in SHIPPED:
        read = shipped.read(SHIPPED[name])
        return read.request.id, read.result
    analysis = name.removeprefix("sample ")
    return f"sample-{analysis}", SAMPLES[analysis]()


@pytest.mark.parametrize("name", RUNS)
def test_every_figure_and_its_table_are_answered_in_every_view(served: TestClient, name: str) -> None:
    run_id, result = known(name)
    for figure in figures.names(result.analysis):
        # A sample is small and sees them all; what ships is large.
        for view in VIEWS[1:2] if name in SHIPPED else VIEWS:
            drawn = got(served, f"{run_id}/figures/{figure}", view).json()
            assert drawn["layout"]["meta"]["title"], figure
            seen = {key: value for key, value in view.items() if key != "theme"}
            told = got(served, f"{run_id}/tables/{figure}", seen).json()
            assert all(len(row) == len(told["columns"]) for row in told["rows"]), figure


@pytest.mark.parametrize("name", RUNS)
def test_every_figure_is_a_file_of_each_kind(served: TestClient, name: str) -> None:
    run_id, result = known(name)
    for number, figure in enumerate(figures.names(result.analysis)):
        view = {**VIEWS[number % len(VIEWS)], "figure": figure}
        seen = {key: value for key, value in view.items() if key not in ("theme", "figure")}
        table = got(served, f"{run_id}/tables/{figure}", seen).json()
        header, *rows = csv.reader(io.StringIO(exported(served, run_id, "csv", view), newline=""))
        assert header == [column["name"] for column in table["columns"]], figure
        assert len(rows) == len(table["rows"]), figure
        assert json.loads(exported(served, run_id, "json", view))["rows"] == table["rows"], figure
        page = exported(served, run_id, "html", view)
        assert page.count('<div class="plot"') == 1, figure
        title = got(served, f"{run_id}/figures/{figure}", seen).json()["layout"]["meta"]["title"]
        assert f"<h2>{escape(title)}</h2>" in page, figure


@pytest.mark.parametrize("name", RUNS)
def test_the_whole_run_is_a_file_of_each_kind(served: TestClient, name: str) -> None:
    run_id, result = known(name)
    view = VIEWS[RUNS.index(name) % len(VIEWS)]
    page = exported(served, run_id, "html", view)
    assert page.count('<div class="plot"') == len(figures.names(result.analysis))
    assert exported(served, run_id, "csv", view).count("\n") > 1
    whole = json.loads(exported(served, run_id, "json", {}))
    again = Result.from_json(whole)
    with np.load(io.BytesIO(file(served, run_id, "npz", {})), allow_pickle=False) as stored:
        for key, array in result.arrays.items():
            np.testing.assert_array_equal(again.arrays[key], array)
            np.testing.assert_array_equal(stored[key], array)
    assert json.loads(exported(served, run_id, "ipynb", {}))["cells"]


@pytest.mark.parametrize("name", RUNS)
def test_its_heads_are_read_again_from_each_kind_of_list(served: TestClient, name: str) -> None:
    run_id, result = known(name)
    kinds = ("heads", "heads.csv", "heads.json")
    if ANALYSES[result.analysis].heads is None:
        for kind in kinds:
            refused = served.get(f"/api/v1/runs/{run_id}/export", params={"format": kind})
            assert (refused.status_code, refused.json()["code"]) == (409, "no-heads")
        return
    for view in VIEWS:
        lists = [heads_in(exported(served, run_id, kind, view)) for kind in kinds]
        assert lists[0] == lists[1] == lists[2]


def heads_in(text: str) -> object:
    try:
        return read_heads(text)
    except Invalid as error:
        return error.code


def got(client: TestClient, path: str, query: dict[str, str]) -> Any:
    answer = client.get(f"/api/v1/runs/{path}", params=query)
    assert answer.status_code == 200, f"{path} {query}: {answer.text[:400]}"
    return answer


def file(client: TestClient, run_id: str, kind: str, view: dict[str, str]) -> bytes:
    return bytes(got(client, f"{run_id}/export", {"format": kind, **view}).content)


def exported(client: TestClient, run_id: str, kind: str, view: dict[str, str]) -> str:
    return file(client, run_id, kind, view).decode("utf-8-sig")
