"""A page that watches a run hears of each change, of its end, and of what went wrong."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import anyio
import pytest
from fastapi import routing
from fastapi.sse import ServerSentEvent
from starlette.testclient import TestClient

from headscope.errors import HeadscopeError, NotFound, Unavailable
from headscope.store import attempts, runs, workers
from headscope.store.session import Store
from headscope.web import events
from headscope.web.schemas import AttemptOut, RunOut
from web.conftest import Rows


def a_run(**changes: Any) -> RunOut:
    return RunOut.model_validate({**RunOut.example(), **changes})


def heard(*answers: RunOut | HeadscopeError) -> list[tuple[str, dict[str, Any]]]:
    """The events of a run that answers like this, one after the other."""
    coming = iter(answers)

    def load() -> RunOut:
        answer = next(coming)
        if isinstance(answer, HeadscopeError):
            raise answer
        return answer

    async def listen() -> list[ServerSentEvent]:
        return [event async for event in events.run_changes(load, interval=0)]

    return [
        (event.event or "", event.data or json.loads(event.raw_data or "")) for event in anyio.run(listen)
    ]


def stories(chunks: Iterator[str]) -> list[tuple[str, dict[str, Any]]]:
    """The events of a whole stream, without its comments."""
    parts = "".join(chunks).removesuffix("\n\n").split("\n\n")
    return [parsed(part) for part in parts if not part.startswith(":")]


def parsed(text: str) -> tuple[str, dict[str, Any]]:
    event, data = text.removesuffix("\n\n").split("\n")
    return event.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def test_each_change_is_told_once_and_the_end_ends_it() -> None:
    running = a_run(status="running", attempts=[])
    told = heard(a_run(status="queued", attempts=[]), running, running, a_run())
    assert [(event, data["status"]) for event, data in told] == [
        ("run", "queued"),
        ("run", "running"),
        ("run", "done"),
    ]


@pytest.mark.parametrize("status", ["done", "failed", "cancelled"])
def test_every_final_status_ends_it(status: str) -> None:
    assert len(heard(a_run(status=status, attempts=[]))) == 1


def test_a_reproduction_under_way_goes_on() -> None:
    first = AttemptOut.example()
    second = {**first, "number": 2, "status": "running", "drift": None}
    ended = {**second, "status": "done", "drift": 0.0}
    told = heard(a_run(attempts=[first, second]), a_run(attempts=[first, ended]))
    assert [data["attempts"][1]["drift"] for _, data in told] == [None, 0.0]


def test_a_run_that_is_deleted_meanwhile_is_a_problem() -> None:
    told = heard(
        a_run(status="queued", attempts=[]), NotFound("Gone.", "Look elsewhere.", code="unknown-run")
    )
    assert [(event, data.get("code")) for event, data in told] == [("run", None), ("problem", "unknown-run")]


def test_a_database_that_comes_back_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    away = Unavailable("Away.", "Wait.", code="database-down")
    assert [event for event, _ in heard(away, away, a_run())] == ["run"]
    monkeypatch.setattr(events, "PATIENCE", -1.0)
    assert [(event, data["code"]) for event, data in heard(away)] == [("problem", "database-down")]


def test_silence_is_filled(monkeypatch: pytest.MonkeyPatch, client: TestClient, rows: Rows) -> None:
    monkeypatch.setattr(routing, "_PING_INTERVAL", 0.05)
    rows.waiting("a")
    ending = threading.Timer(1.2, lambda: client.post("/api/v1/runs/a/cancel"))
    ending.start()
    with client.stream("GET", "/api/v1/runs/a/events") as answer:
        text = "".join(answer.iter_text())
    ending.join()
    assert "\n\n: ping\n\n" in text


def test_what_cannot_be_watched_is_no_stream(client: TestClient) -> None:
    answer = client.get("/api/v1/runs/none/events")
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown-run")


def test_a_finished_run_over_http(client: TestClient, rows: Rows) -> None:
    rows.done("a")
    with client.stream("GET", "/api/v1/runs/a/events", headers={"Accept-Encoding": "gzip"}) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in answer.headers, "compression would hold events back"
        (told,) = stories(answer.iter_text())
    assert (told[0], told[1]["status"]) == ("run", "done")


def test_the_worker_dies_while_a_page_waits(client: TestClient, rows: Rows, store: Store) -> None:
    rows.waiting("a")
    with store.session() as session:
        workers.register(session, "w1", host="lab", device="cpu", queue="cpu")
        attempts.claim(session, "a", 1, "w1", machine="lab", code_version="0.1.0")
    assert client.get("/api/v1/runs/a").json()["notice"] is None
    assert client.get("/api/v1/health").json()["status"] == "ok"
    with store.session() as session:
        workers.retire(session, "w1")

    notices: list[str | None] = []
    for event in listening(client, "a", lambda: client.post("/api/v1/runs/a/cancel")):
        notices.append(event["notice"])
        status = event["status"]
    assert "no longer answers" in (notices[0] or "")
    assert status == "cancelled", "nobody is left who could refuse"


def test_a_stop_that_was_asked_for_is_told(client: TestClient, rows: Rows, store: Store) -> None:
    rows.waiting("a")
    with store.session() as session:
        workers.register(session, "w1", host="lab", device="cpu", queue="cpu")
        attempts.claim(session, "a", 1, "w1", machine="lab", code_version="0.1.0")
        runs.request_cancel(session, "a")
    assert "asked to stop" in client.get("/api/v1/runs/a").json()["notice"]


def listening(client: TestClient, run_id: str, then: Callable[[], object]) -> list[dict[str, Any]]:
    """All events of a run; ``then`` happens while they are listened to."""
    timer = threading.Timer(0.8, then)
    timer.start()
    with client.stream("GET", f"/api/v1/runs/{run_id}/events") as answer:
        found = [data for _, data in stories(answer.iter_text())]
    timer.join()
    return found
