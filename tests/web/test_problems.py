"""Every error is a problem document with a remedy, and an unexpected one tells nothing of the inside."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from headscope.errors import (
    Forbidden,
    Gone,
    HeadscopeError,
    Invalid,
    NotFound,
    Refused,
    SignInNeeded,
    TooLarge,
    TooManyAttempts,
    Unavailable,
)
from headscope.settings import Settings
from headscope.web.schemas import Problem
from web.conftest import BASE_URL, browser

ERRORS = {
    Forbidden: 403,
    Gone: 410,
    Invalid: 422,
    NotFound: 404,
    Refused: 409,
    SignInNeeded: 401,
    TooLarge: 413,
    TooManyAttempts: 429,
    Unavailable: 503,
}


def failing(settings: Settings, error: Exception) -> TestClient:
    """The real app with one more route, which fails."""
    from headscope.web.app import create_app

    app: FastAPI = create_app(settings)

    @app.get("/api/v1/failing")
    def fail() -> None:
        raise error

    return TestClient(app, base_url=BASE_URL, raise_server_exceptions=False)


def test_what_to_do_is_said_for_the_place_where_it_is_read(bare: Settings) -> None:
    remedies = {"page": "Press the button.", "command": "Run it."}
    error = Invalid("It broke.", "Send it again.", remedies=remedies)  # type: ignore[arg-type]
    client = failing(bare, error)
    on_page = client.get("/api/v1/failing", headers={"X-Headscope-Reader": "page"}).json()
    assert (on_page["remedy"], on_page["detail"]) == ("Press the button.", "It broke.")
    assert client.get("/api/v1/failing").json()["remedy"] == "Send it again."
    assert error.about("g.csv").remedy_for("command") == "Run it."
    assert error.about("g.csv").message == "g.csv: It broke."


@pytest.mark.parametrize("kind", list(ERRORS))
def test_each_kind_has_its_status(bare: Settings, kind: type[HeadscopeError]) -> None:
    answer = failing(bare, kind("It broke.", "Mend it.")).get("/api/v1/failing")
    assert answer.status_code == ERRORS[kind]
    assert answer.headers["content-type"] == "application/problem+json"
    problem = Problem.model_validate(answer.json())
    assert (problem.detail, problem.remedy, problem.status) == ("It broke.", "Mend it.", ERRORS[kind])


def test_an_unexpected_error_leaks_nothing(bare: Settings) -> None:
    answer = failing(bare, RuntimeError("password=hunter2 at /home/me/secret.py")).get("/api/v1/failing")
    assert (answer.status_code, answer.json()["code"]) == (500, "internal-error")
    assert "hunter2" not in answer.text
    assert "secret.py" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_full_disk_is_told(bare: Settings) -> None:
    answer = failing(bare, OSError(errno.ENOSPC, "No space left on device")).get("/api/v1/failing")
    assert (answer.status_code, answer.json()["code"]) == (503, "disk-full")


@pytest.mark.parametrize(
    ("body", "detail", "remedy"),
    [
        ({"lab": {}}, "body.lab.model: Field required.", "Add model."),
        ({}, "body: name runs to share, or a lab view.", "Change body"),
        ({"run_ids": ["a"], "colour": 1}, "colour", "Leave colour out"),
        ({"run_ids": "a"}, "run_ids", "Change run_ids"),
        ({"run_ids": ["\ud800"]}, "run_ids", "Change 0"),
    ],
)
def test_a_body_that_does_not_fit(bare: Settings, body: dict[str, Any], detail: str, remedy: str) -> None:
    import json

    with browser(bare) as client:
        answer = client.post(
            "/api/v1/shares", content=json.dumps(body), headers={"Content-Type": "application/json"}
        )
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid-request")
    assert detail in answer.json()["detail"]
    assert remedy in answer.json()["remedy"]


@pytest.mark.parametrize(
    ("content", "media_type", "code"),
    [
        (b"{not json", "application/json", "not-json"),
        (b"\xff\xfe\x00", "application/json", "bad-request"),
        (b"{}", "text/plain", "invalid-request"),
        (b"", "application/json", "invalid-request"),
    ],
)
def test_a_body_that_is_not_json(bare: Settings, content: bytes, media_type: str, code: str) -> None:
    with browser(bare) as client:
        answer = client.post("/api/v1/shares", content=content, headers={"Content-Type": media_type})
    assert answer.status_code in (400, 422)
    assert answer.json()["code"] == code
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["remedy"]


def test_a_bodys_faults_are_told_without_names_of_types(bare: Settings) -> None:
    from headscope.web.app import create_app

    client = TestClient(create_app(bare), base_url=BASE_URL)
    wanted = {"name": "a\nb", "model": "headscope-2l", "gates": [[None]]}
    problem = Problem.model_validate(client.post("/api/v1/gates", json=wanted).json())
    assert "body.name: should be one line, without control characters." in problem.detail
    assert "body.gates.0.0: Input should be a valid number." in problem.detail
    assert "TypedArray" not in problem.detail + problem.remedy
    assert "list[" not in problem.detail + problem.remedy
