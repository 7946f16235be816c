"""A share opens its runs and nothing else, until it is revoked or expires."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from headscope.settings import Settings
from headscope.store.session import Store
from headscope.store.tables import Share, now
from web.conftest import TOKEN, Rows, browser
from web.test_served import serving


@pytest.fixture
def owner(guarded: Settings, store: Store) -> Iterator[TestClient]:
    with browser(guarded, headers={"Authorization": f"Bearer {TOKEN}"}) as client:
        yield client


@pytest.fixture
def outsider(guarded: Settings, store: Store) -> Iterator[TestClient]:
    with browser(guarded) as client:
        yield client


def share(owner: TestClient, *run_ids: str, **options: Any) -> str:
    answer = owner.post("/api/v1/shares", json={"run_ids": list(run_ids), **options})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["token"])


READS = ("", "/result", "/figures/roles", "/tables/roles", "/export?format=csv", "/events")


def read(client: TestClient, run_id: str, path: str, token: str | None) -> tuple[int, str | None]:
    parts = f"/api/v1/runs/{run_id}{path}"
    answer = client.get(
        parts,
        params={**dict(p.split("=") for p in parts.split("?")[1:]), **({"share": token} if token else {})},
    )
    return answer.status_code, answer.json()["code"] if answer.status_code >= 400 else None


def test_an_outsider_reads_a_shared_run_and_no_other(
    owner: TestClient, outsider: TestClient, rows: Rows
) -> None:
    rows.done("a")
    rows.done("b")
    token = share(owner, "a")
    for path in READS:
        assert read(outsider, "a", path, token) == (200, None), path
        assert read(outsider, "a", path, None) == (401, "sign-in-needed")
        assert read(outsider, "b", path, token) == (401, "sign-in-needed")
        assert read(outsider, "a", path, "wrong") == (404, "unknown-share")
    opened = outsider.get(f"/api/v1/shares/{token}").json()
    assert [run["id"] for run in opened["runs"]] == ["a"]


def test_a_share_gives_no_right_to_act(owner: TestClient, outsider: TestClient, rows: Rows) -> None:
    rows.done("a")
    token = share(owner, "a", visibility="public")
    for method, path in (
        ("DELETE", "runs/a"),
        ("POST", "runs/a/cancel"),
        ("POST", "runs/a/reproduce"),
        ("GET", "runs"),
        ("GET", "tasks"),
        ("DELETE", f"shares/{token}"),
        ("POST", "shares"),
    ):
        assert outsider.request(method, f"/api/v1/{path}", params={"share": token}).status_code == 401


def test_the_view_comes_back_as_it_was_given(owner: TestClient, rows: Rows) -> None:
    rows.done("a")
    view = {"threshold": "0.4", "mode": "always", "head": "1.2"}
    answer = owner.post("/api/v1/shares", json={"run_ids": ["a", "a"], "view": view, "path": "/runs/a"})
    made = answer.json()
    assert made["url"] == f"http://127.0.0.1:8000/s/{made['token']}"
    assert answer.headers["location"] == f"/api/v1/shares/{made['token']}"
    opened = owner.get(f"/api/v1/shares/{made['token']}").json()
    assert (opened["view"], opened["path"], opened["run_ids"]) == (view, "/runs/a", ["a"])
    assert len(made["token"]) >= 20


def test_revoked(owner: TestClient, outsider: TestClient, rows: Rows) -> None:
    rows.done("a")
    token = share(owner, "a")
    assert owner.delete(f"/api/v1/shares/{token}").status_code == 204
    answer = outsider.get(f"/api/v1/shares/{token}")
    assert (answer.status_code, answer.json()["code"]) == (410, "share-revoked")
    assert read(outsider, "a", "", token) == (410, "share-revoked")
    assert owner.get("/api/v1/shares").json()[0]["revoked_at"] is not None
    assert owner.delete("/api/v1/shares/none").status_code == 404


def test_a_revoked_share_ends_an_open_event_stream(owner: TestClient, guarded: Settings, rows: Rows) -> None:
    """Read by a real server: the test client would wait for the stream's end before it gives anything."""
    rows.waiting("a")
    token = share(owner, "a")
    with serving(guarded) as (url, _):
        with httpx.stream("GET", f"{url}/api/v1/runs/a/events", params={"share": token}) as stream:
            lines = stream.iter_lines()
            assert next(lines) == "event: run"
            assert owner.delete(f"/api/v1/shares/{token}").status_code == 204
            rest = list(lines)
        assert "event: problem" in rest
        assert "share-revoked" in rest[rest.index("event: problem") + 1]


def test_a_shared_run_names_its_model_in_words(owner: TestClient, outsider: TestClient, rows: Rows) -> None:
    rows.done("a")
    token = share(owner, "a")
    (run,) = outsider.get(f"/api/v1/shares/{token}").json()["runs"]
    assert run["model_title"] == owner.get("/api/v1/runs/a").json()["model_title"] == run["model"]


def test_expired(owner: TestClient, outsider: TestClient, rows: Rows, store: Store) -> None:
    rows.done("a")
    token = share(owner, "a", expires_in_days=1)
    assert read(outsider, "a", "", token) == (200, None)
    with store.session() as session:
        session.get_one(Share, token).expires_at = now() - timedelta(seconds=1)
    assert read(outsider, "a", "", token) == (410, "share-expired")
    assert outsider.get(f"/api/v1/shares/{token}").status_code == 410


def test_visibility(owner: TestClient, outsider: TestClient, rows: Rows, store: Store) -> None:
    rows.done("a")
    tokens = {kind: share(owner, "a", visibility=kind) for kind in ("private", "unlisted", "public")}
    assert [s["token"] for s in outsider.get("/api/v1/shares").json()] == [tokens["public"]]
    assert {s["token"] for s in owner.get("/api/v1/shares").json()} == set(tokens.values())
    assert outsider.get(f"/api/v1/shares/{tokens['private']}").json()["code"] == "sign-in-needed"
    assert read(outsider, "a", "", tokens["private"]) == (401, "sign-in-needed")
    assert owner.get(f"/api/v1/shares/{tokens['private']}").status_code == 200
    for kind in ("unlisted", "public"):
        assert outsider.get(f"/api/v1/shares/{tokens[kind]}").status_code == 200
    with store.session() as session:
        session.get_one(Share, tokens["public"]).expires_at = now() - timedelta(seconds=1)
    assert outsider.get("/api/v1/shares").json() == []


def test_a_deleted_run_leaves_the_share(owner: TestClient, rows: Rows) -> None:
    rows.done("a")
    rows.done("b")
    token = share(owner, "a", "b")
    owner.delete("/api/v1/runs/a")
    assert [run["id"] for run in owner.get(f"/api/v1/shares/{token}").json()["runs"]] == ["b"]


BAD: list[dict[str, Any]] = [
    {"run_ids": []},
    {"run_ids": ["a"] * 25},
    {"run_ids": ["a"], "path": "//evil.example"},
    {"run_ids": ["a"], "path": "https://evil.example"},
    {"run_ids": ["a"], "path": "/\\evil.example"},
    {"run_ids": ["a"], "path": "/a\u0000"},
    {"run_ids": ["a"], "view": {"x y": "1"}},
    {"run_ids": ["a"], "view": {"x": "1\n"}},
    {"run_ids": ["a"], "view": {str(i): "1" for i in range(33)}},
    {"run_ids": ["a"], "visibility": "secret"},
    {"run_ids": ["a"], "expires_in_days": 0},
    {"run_ids": ["a"], "more": 1},
]


def test_shares_that_cannot_be(owner: TestClient, rows: Rows) -> None:
    rows.done("a")
    for bad in BAD:
        answer = owner.post("/api/v1/shares", json=bad)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid-request"), bad
    assert owner.get("/api/v1/shares").json() == []


def test_a_share_of_an_unknown_run(owner: TestClient) -> None:
    answer = owner.post("/api/v1/shares", json={"run_ids": ["nothing"]})
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown-run")
