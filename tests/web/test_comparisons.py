"""Several runs over HTTP: figures, tables, files; who may read them; what is refused with which remedy."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from pydantic import SecretStr
from starlette.testclient import TestClient

from figures.pattern_samples import induction
from figures.results import on, result
from headscope.analyses.comparisons import COMPARISONS
from headscope.settings import Settings
from headscope.store import migrate
from headscope.store.session import open_store
from web.conftest import TOKEN, Rows, browser

BASE = "/api/v1/comparisons"
A, B = "a" * 20, "b" * 20
TWO = f"run={A}&run={B}"
"""Two runs of one model on two tasks, as a query."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """A store with all that the tests of this module read; none of them changes a run."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("compared"))
    migrate.upgrade(settings)
    store = open_store(settings)
    rows = Rows(store)
    rows.done(A, on(result(seed=1)))
    rows.done(B, on(result(seed=2, seeds=5), task="colours"))
    rows.done("other", on(result(), model="large"))
    rows.done("folded", on(result(), weight_processing="folded"))
    rows.done("heads", induction(), analysis="induction")
    rows.waiting("waits")
    store.close()
    return settings


@pytest.fixture(scope="module")
def client(filled: Settings) -> Iterator[TestClient]:
    with browser(filled) as client:
        yield client


def test_what_there_is(client: TestClient) -> None:
    listed = client.get(BASE).json()
    assert [one["name"] for one in listed] == list(COMPARISONS)
    assert {one["name"]: one["least_runs"] for one in listed}["overlap"] == 2
    assert [one["name"] for one in listed if one["one_model"]] == ["overlap"]


@pytest.mark.parametrize("name", list(COMPARISONS))
def test_each_has_a_figure_a_table_and_files(client: TestClient, name: str) -> None:
    figure = client.get(f"{BASE}/{name}?{TWO}")
    assert figure.status_code == 200
    meta = figure.json()["layout"]["meta"]
    assert [run["run"] for run in meta["runs"]] == [A, B]
    assert "3 to 5 seeds" in " ".join(meta["notes"])
    again = client.get(f"{BASE}/{name}?{TWO}", headers={"If-None-Match": figure.headers["etag"]})
    assert again.status_code == 304
    dark = client.get(f"{BASE}/{name}?{TWO}&theme=dark")
    assert dark.headers["etag"] != figure.headers["etag"]

    table = client.get(f"{BASE}/{name}/table?{TWO}").json()
    csv = client.get(f"{BASE}/{name}/export?format=csv&{TWO}")
    assert csv.text.splitlines()[0] == ",".join(column["name"] for column in table["columns"])
    assert len(csv.text.splitlines()) == len(table["rows"]) + 1
    assert csv.headers["content-disposition"] == f'attachment; filename="headscope-compare-{name}.csv"'
    whole = json.loads(client.get(f"{BASE}/{name}/export?format=json&{TWO}").content)
    assert whole["rows"] == table["rows"]
    assert whole["runs"][1]["finished_seeds"] == 5
    html = client.get(f"{BASE}/{name}/export?format=html&{TWO}").text
    assert f"headscope compare {name} {A} {B}" in html
    assert COMPARISONS[name].title in html


def test_the_view_decides_what_is_shown(client: TestClient) -> None:
    def rows(query: str) -> list[list[object]]:
        found: list[list[object]] = client.get(f"{BASE}/{query}&{TWO}").json()["rows"]
        return found

    assert rows("shares/table?threshold=0.5") != rows("shares/table?threshold=0.9")
    assert len(rows("shares/table?published=false")) == 2
    assert rows("overlap/table?mode=every") != rows("overlap/table?mode=always")


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        (f"nope?run={A}", 404, "unknown-comparison"),
        ("shares?run=nope", 404, "unknown-run"),
        ("shares", 422, "invalid-request"),
        (f"shares?run={A}&threshold=0", 422, "invalid-request"),
        (f"ecdf?run={A}&score=nope", 422, "invalid-request"),
        ("shares?" + "&".join(f"run={n}" for n in range(25)), 422, "invalid-request"),
        (f"overlap?run={A}", 422, "number-of-runs"),
        (f"overlap?run={A}&run=other", 422, "different-models"),
        (f"shares?run={A}&run=folded", 422, "different-weights"),
        (f"shares?run={A}&run=heads", 422, "not-gates"),
        (f"shares?run={A}&run=waits", 409, "run-not-done"),
    ],
)
def test_what_cannot_be_compared_is_answered_with_what_to_do(
    client: TestClient, query: str, status: int, code: str
) -> None:
    answer = client.get(f"{BASE}/{query}")
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["remedy"]


def test_a_guest_compares_what_a_share_opens_and_no_more(filled: Settings) -> None:
    guarded = filled.model_copy(update={"host": "192.0.2.7", "token": SecretStr(TOKEN)})
    with browser(guarded, base_url="http://192.0.2.7:8000") as client:
        signed_in = {"Authorization": f"Bearer {TOKEN}"}

        def share(*run_ids: str) -> str:
            made = client.post("/api/v1/shares", json={"run_ids": run_ids}, headers=signed_in)
            return str(made.json()["token"])

        def status(query: str) -> int:
            return client.get(f"{BASE}/{query}&{TWO}").status_code

        both, one = share(A, B), share(A)
        assert status("shares?threshold=0.5") == 401
        assert status(f"shares?share={one}") == 401
        assert status(f"shares?share={both}") == status(f"shares/table?share={both}") == 200
        assert status(f"shares/export?format=csv&share={one}") == 401
