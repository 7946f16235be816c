"""Asking for runs: the same request is the same run; what can't be is refused before anything is queued."""

from __future__ import annotations

import shlex
from itertools import pairwise
from typing import Any

import pytest
from starlette.testclient import TestClient

from figures.results import result as made_result
from headscope.analyses.request import Request, resolve
from headscope.cli.run import parameters
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.store import runs, workers
from headscope.store.session import Store
from headscope.tasks.catalogue import TaskCatalogue
from services.results import changed
from web.conftest import FINISHED_AT, HEADLINE

ASKED: dict[str, Any] = {
    "model": "headscope-2l",
    "task": "induction",
    "preset": "quick",
    "params": {"seeds": 2},
}


def ask(client: TestClient, **changes: Any) -> Any:
    return client.post("/api/v1/runs", json={**ASKED, **changes})


def asked(settings: Settings) -> Request:
    """The same as ``ASKED``, resolved without the web."""
    model = Catalogue(settings).info("headscope-2l")
    return resolve("chg", model, TaskCatalogue().get("induction"), "quick", {"seeds": 2})


def compute(store: Store, request: Request) -> None:
    """Put a result into the store as if the request had been computed."""
    made = made_result(seeds=2)
    outcome = changed(made, model=request.model, params=request.params)
    with store.session() as session:
        runs.add_finished(
            session,
            request,
            outcome,
            HEADLINE,
            origin="gallery",
            code_version="0.1.0",
            machine=None,
            wall_seconds=1.0,
            finished_at=FINISHED_AT,
        )


def test_the_same_request_is_the_same_run(client: TestClient, settings: Settings) -> None:
    first = ask(client)
    assert first.status_code == 202, first.text
    run = first.json()
    assert run["id"] == asked(settings).id
    assert first.headers["location"] == f"/api/v1/runs/{run['id']}"
    assert (run["status"], run["seeds"], run["params"]["seeds"]) == ("queued", [0, 1], 2)
    assert "No worker is alive" in run["notice"]
    assert ask(client).json()["id"] == run["id"]
    assert client.get("/api/v1/runs").json()["total"] == 1
    assert ask(client, params={"seeds": 3}).json()["id"] != run["id"]


def test_the_command_is_typed_as_a_person_would_and_read_back_as_the_same(client: TestClient) -> None:
    params = {"retain": ["induction", "rule-aba"], "forget": ["rule-abb"], "push": "shut", "clip": 2.5}
    request = {"analysis": "cchg", "model": "headscope-2l", "preset": "quick", "params": params}
    words = shlex.split(client.post("/api/v1/runs", json=request).json()["reproduce"])
    given = [word for before, word in pairwise(words) if before == "--param"]
    assert {"retain=induction,rule-aba", "forget=rule-abb", "push=shut", "clip=2.5"} == set(given)
    again = client.post("/api/v1/runs", json=request | {"params": parameters(given)}).json()
    assert again["id"] == client.post("/api/v1/runs", json=request).json()["id"]


def test_a_cancelled_run_can_be_asked_for_again(client: TestClient) -> None:
    run = ask(client).json()
    assert client.post(f"/api/v1/runs/{run['id']}/cancel").json()["status"] == "cancelled"
    again = ask(client).json()
    assert (again["id"], again["status"], len(again["attempts"])) == (run["id"], "queued", 2)


def test_a_shipped_run_answers_the_request_that_would_compute_it(
    client: TestClient, settings: Settings, store: Store
) -> None:
    compute(store, asked(settings))
    answer = ask(client)
    assert (answer.status_code, answer.json()["status"], answer.json()["origin"]) == (200, "done", "gallery")
    estimate = client.post("/api/v1/runs/estimate", json=ASKED).json()
    assert (estimate["existing"], estimate["run_id"]) == ("done", answer.json()["id"])


def test_an_estimate_starts_nothing(client: TestClient) -> None:
    estimate = client.post("/api/v1/runs/estimate", json=ASKED).json()
    assert estimate["seconds"] > 0
    assert estimate["peak_bytes"] > 0
    assert estimate["basis"]
    assert (estimate["queue"], estimate["existing"], estimate["refused"]) == ("cpu", None, None)
    assert client.get("/api/v1/runs").json()["total"] == 0


def test_too_big_for_every_worker_in_sight(client: TestClient, store: Store) -> None:
    with store.session() as session:
        workers.register(session, "w", host="lab", device="cpu", queue="cpu", memory_bytes=2**20)
    estimate = client.post("/api/v1/runs/estimate", json=ASKED).json()
    assert (estimate["queue"], estimate["refused"]["code"]) == (None, "too-big")
    refused = ask(client)
    assert (refused.status_code, refused.json()["code"]) == (409, "too-big")
    assert client.get("/api/v1/runs").json()["total"] == 0


@pytest.mark.parametrize(
    ("changes", "status", "code", "said"),
    [
        ({"model": "gpt9"}, 404, "unknown-model", "headscope-2l"),
        ({"model": "/etc"}, 404, "unknown-model", "headscope-2l"),
        ({"model": "smollm2-135m"}, 503, "model-not-fetched", "headscope models fetch"),
        ({"task": "inducton"}, 404, "unknown-task", "induction"),
        ({"task": None}, 422, "task-missing", "task"),
        ({"analysis": "magic"}, 404, "unknown-analysis", "chg"),
        ({"preset": "slow"}, 422, "unknown-preset", "quick"),
        ({"params": {"sedes": 3}}, 422, "unknown-parameter", "seeds"),
        ({"params": {"seeds": 0}}, 422, "invalid-parameter", "seeds"),
        ({"params": {"seeds": "many"}}, 422, "invalid-parameter", "seeds"),
        ({"params": {"lr_start": "nan"}}, 422, "invalid-parameter", "lr_start"),
        ({"params": 3}, 422, "invalid-request", "params"),
        ({"colour": "red"}, 422, "invalid-request", "colour"),
        ({"model": None}, 422, "invalid-request", "model"),
    ],
)
def test_what_cannot_be_run(
    bad: TestClient, changes: dict[str, Any], status: int, code: str, said: str
) -> None:
    for path in ("/api/v1/runs", "/api/v1/runs/estimate"):
        answer = bad.post(path, json={**ASKED, **changes})
        assert (answer.status_code, answer.json()["code"]) == (status, code)
        assert answer.headers["content-type"] == "application/problem+json"
        assert said in answer.json()["detail"] + answer.json()["remedy"]
    assert bad.get("/api/v1/runs").json()["total"] == 0


def test_reproducing_adds_an_attempt_and_keeps_the_result(
    client: TestClient, settings: Settings, store: Store
) -> None:
    request = asked(settings)
    compute(store, request)
    answer = client.post(f"/api/v1/runs/{request.id}/reproduce")
    assert answer.status_code == 202, answer.text
    run = answer.json()
    assert (run["status"], [a["status"] for a in run["attempts"]]) == ("done", ["done", "queued"])
    assert "No worker is alive" in run["notice"]
    again = client.post(f"/api/v1/runs/{request.id}/reproduce").json()
    assert len(again["attempts"]) == 2, "one that waits is returned"
    assert client.get(f"/api/v1/runs/{request.id}/result").status_code == 200


def test_what_cannot_be_reproduced(client: TestClient, settings: Settings, store: Store) -> None:
    waiting = ask(client).json()["id"]
    refused = client.post(f"/api/v1/runs/{waiting}/reproduce")
    assert (refused.status_code, refused.json()["code"]) == (409, "run-not-done")
    assert client.post("/api/v1/runs/nothing/reproduce").json()["code"] == "unknown-run"
    request = asked(settings)
    other = Request(**{**vars(request), "id": "b" * 20})
    compute(store, other)
    changed = client.post(f"/api/v1/runs/{other.id}/reproduce")
    assert (changed.status_code, changed.json()["code"]) == (409, "inputs-changed")
