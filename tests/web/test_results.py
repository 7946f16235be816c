"""A run is read whole: its row, its result with NaN, its figures, its exports."""

from __future__ import annotations

import io
import json

import numpy as np
from starlette.testclient import TestClient

from figures.results import result as made_result
from figures.results import without_fit
from headscope.core.arrays import decode, is_typed
from headscope.store import attempts, runs
from headscope.store.session import Store
from services.results import changed
from web.conftest import HEADLINE, Rows


def test_a_finished_run(client: TestClient, rows: Rows) -> None:
    rows.done("a" * 20)
    run = client.get(f"/api/v1/runs/{'a' * 20}").json()
    assert (run["status"], run["wall_seconds"], run["machine"]) == ("done", 42.0, "2 cores")
    assert run["headline"] == HEADLINE
    assert run["attempts"][0]["number"] == 1
    assert run["notice"] is None
    # The run is from before heads were closed alone: the same today is asked for without.
    settings = "--preset quick --param check_closed=false --param clip=2.0"
    assert run["reproduce"] == f"headscope run chg --model tiny --task induction {settings}"


def test_the_result_keeps_nan_and_is_not_sent_twice(client: TestClient, rows: Rows) -> None:
    result = without_fit(made_result(), seed=1)
    rows.done("a", result)
    answer = client.get("/api/v1/runs/a/result")
    assert answer.headers["content-type"] == "application/json"
    assert np.array_equal(decode(answer.json()["g_plus"]), result.arrays["g_plus"], equal_nan=True)
    assert np.isnan(decode(answer.json()["g_plus"])[1]).all()
    again = client.get("/api/v1/runs/a/result", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_the_result_can_be_had_without_its_arrays(client: TestClient, rows: Rows) -> None:
    rows.done("a", made_result())
    whole, few = (client.get(f"/api/v1/runs/a/result{query}") for query in ("", "?arrays=false"))
    assert "g_plus" in whole.json()
    assert few.json() == {name: value for name, value in whole.json().items() if not is_typed(value)}
    assert few.headers["etag"] != whole.headers["etag"]


def test_large_answers_are_compressed(client: TestClient, rows: Rows) -> None:
    rows.done("a", made_result(layers=32, heads=32, kv_heads=8, seeds=10))
    answer = client.get("/api/v1/runs/a/result", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    plain = client.get("/api/v1/runs/a/result", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json() == answer.json()


def test_figures_follow_threshold_and_mode(client: TestClient, rows: Rows) -> None:
    rows.done("a")
    first = client.get("/api/v1/runs/a/figures/roles")
    assert set(first.json()) == {"data", "layout"}
    assert "template" not in first.json()["layout"]
    other = client.get("/api/v1/runs/a/figures/roles?threshold=0.9&mode=always&theme=dark")
    assert other.status_code == 200
    assert other.headers["etag"] != first.headers["etag"]
    assert client.get("/api/v1/runs/a/figures/roles").content == first.content
    same = client.get("/api/v1/runs/a/figures/roles", headers={"If-None-Match": first.headers["etag"]})
    assert same.status_code == 304


def test_every_figure_that_an_analysis_names_can_be_had_with_its_table(
    client: TestClient, rows: Rows
) -> None:
    rows.done("a")
    (chg,) = (a for a in client.get("/api/v1/analyses").json() if a["name"] == "chg")
    for name in chg["figures"]:
        assert client.get(f"/api/v1/runs/a/figures/{name}").status_code == 200
        table = client.get(f"/api/v1/runs/a/tables/{name}").json()
        assert all(len(row) == len(table["columns"]) for row in table["rows"])


def test_an_unknown_figure_lists_those_there_are(client: TestClient, rows: Rows) -> None:
    rows.done("a")
    for path in ("figures/none", "tables/none"):
        answer = client.get(f"/api/v1/runs/a/{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown-figure")
        assert "roles" in answer.json()["remedy"]


def test_views_that_cannot_be(client: TestClient, rows: Rows) -> None:
    rows.done("a")
    for view in ("threshold=0", "threshold=1.1", "threshold=nan", "mode=most", "theme=blue"):
        answer = client.get(f"/api/v1/runs/a/figures/roles?{view}")
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid-request"), view
        assert view.split("=")[0] in answer.json()["detail"]


def test_exports_of_numbers(client: TestClient, rows: Rows) -> None:
    rows.done("a")
    whole = client.get("/api/v1/runs/a/export?format=json")
    assert "attachment" in whole.headers["content-disposition"]
    assert whole.headers["content-disposition"].endswith('.json"')
    assert json.loads(whole.content)["analysis"] == "chg"
    table = client.get("/api/v1/runs/a/export?format=csv&figure=roles")
    assert table.headers["content-type"].startswith("text/csv")
    arrays = np.load(io.BytesIO(client.get("/api/v1/runs/a/export?format=npz").content))
    assert np.array_equal(arrays["g_plus"], made_result().arrays["g_plus"])


def test_an_export_that_cannot_be(client: TestClient, rows: Rows) -> None:
    rows.done("a")
    assert client.get("/api/v1/runs/a/export?format=xls").json()["code"] == "invalid-request"
    assert client.get("/api/v1/runs/a/export").json()["remedy"] == "Add format."
    assert client.get("/api/v1/runs/a/export?format=csv&figure=none").json()["code"] == "unknown-figure"


def test_a_run_that_is_not_done_says_what_it_is(client: TestClient, rows: Rows) -> None:
    rows.waiting("a")
    for path in ("result", "figures/roles", "tables/roles", "export?format=csv"):
        answer = client.get(f"/api/v1/runs/a/{path}")
        assert (answer.status_code, answer.json()["code"]) == (409, "run-not-done"), path
        assert "queued" in answer.json()["detail"]


def test_an_unknown_run(client: TestClient) -> None:
    for path in ("", "/result", "/figures/roles", "/tables/roles", "/export?format=csv", "/events"):
        answer = client.get(f"/api/v1/runs/nothing{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown-run"), path
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["remedy"]


def test_text_that_no_database_keeps_finds_nothing(client: TestClient) -> None:
    for path in ("/api/v1/runs/a%00b", "/api/v1/runs?model=a%00b", "/api/v1/shares/%00"):
        answer = client.get(path)
        assert answer.status_code in (200, 404, 422), path
        assert answer.headers["content-type"] in ("application/json", "application/problem+json")


def test_lists_are_filtered_and_paged(client: TestClient, rows: Rows) -> None:
    for run_id in ("a", "b", "c"):
        rows.done(run_id)
    rows.waiting("d")
    whole = client.get("/api/v1/runs").json()
    assert (whole["total"], len(whole["runs"])) == (4, 4)
    page = client.get("/api/v1/runs?status=done&limit=2&offset=2").json()
    assert (page["total"], len(page["runs"])) == (3, 1)
    assert client.get("/api/v1/runs?model=other").json()["total"] == 0
    for bad in ("status=lost", "limit=0", "limit=x", "offset=-1"):
        assert client.get(f"/api/v1/runs?{bad}").status_code == 422


def test_deleting(client: TestClient, rows: Rows) -> None:
    rows.done("a")
    rows.waiting("b")
    assert client.delete("/api/v1/runs/a").status_code == 204
    assert client.get("/api/v1/runs/a").status_code == 404
    refused = client.delete("/api/v1/runs/b")
    assert (refused.status_code, refused.json()["code"]) == (409, "run-active")


def test_cancelling_what_waits(client: TestClient, rows: Rows) -> None:
    rows.waiting("a")
    assert client.post("/api/v1/runs/a/cancel").json()["status"] == "cancelled"
    assert client.post("/api/v1/runs/a/cancel").json()["status"] == "cancelled", "it stays as it is"
    assert client.post("/api/v1/runs/none/cancel").status_code == 404


def test_without_a_worker_the_run_says_so(client: TestClient, rows: Rows) -> None:
    rows.waiting("a")
    assert "headscope worker" in client.get("/api/v1/runs/a").json()["notice"]
    health = client.get("/api/v1/health").json()
    assert (health["status"], health["workers"], health["access"]) == ("degraded", [], "open")
    assert "headscope worker" in health["detail"]


def test_a_stopped_run_shows_shares_and_exports_what_was_whole(
    client: TestClient, rows: Rows, store: Store
) -> None:
    rows.waiting("a" * 20)
    part = changed(
        made_result(seeds=2), values={"partial": {"seeds": 2, "of": 3}, "notes": ["2 of 3 seeds."]}
    )
    with store.session() as session:
        stopped = runs.request_cancel(session, "a" * 20)
        attempts.keep_partial(session, stopped, part.to_json(), {"always_needed": 0.25})
    run = client.get(f"/api/v1/runs/{'a' * 20}").json()
    assert (run["status"], run["partial"], run["seeds"]) == ("cancelled", True, [0, 1, 2])
    result = client.get(f"/api/v1/runs/{'a' * 20}/result")
    assert result.json()["seeds"] == [0, 1]
    share = client.post("/api/v1/shares", json={"run_ids": ["a" * 20], "path": f"/runs/{'a' * 20}"}).json()
    shared = client.get(f"/api/v1/shares/{share['token']}").json()
    assert shared["runs"][0]["partial"] is True
    for path in (
        "figures/roles",
        "figures/seeds",
        "tables/heldout",
        "export?format=html",
        "export?format=csv",
    ):
        assert client.get(f"/api/v1/runs/{'a' * 20}/{path}").status_code == 200, path
    page = client.get(f"/api/v1/runs/{'a' * 20}/export?format=html").text
    assert "2 of 3 seeds." in page
    refused = client.post(f"/api/v1/runs/{'a' * 20}/reproduce")
    assert (refused.status_code, refused.json()["code"]) == (409, "run-not-done")
    with store.session() as session:
        again = attempts.lock(session, "a" * 20)
        attempts.keep_partial(session, again, made_result(seeds=3).to_json(), {})
    known = {"If-None-Match": result.headers["etag"]}
    assert client.get(f"/api/v1/runs/{'a' * 20}/result", headers=known).status_code == 200
