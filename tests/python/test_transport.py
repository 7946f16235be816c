"""Retries and errors, against a server that really fails."""

from __future__ import annotations

import socket
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from headscope import errors
from headscope.errors import HeadscopeError, NotFound, Unavailable
from headscope.python.transport import Transport
from python.failing import Fail, breaks_off, failing, page, problem


def to(url: str, *, patience: float = 5.0, token: str | None = None) -> Transport:
    return Transport(url, token, timeout=5.0, patience=patience)


@pytest.mark.parametrize(
    "failures",
    [
        (breaks_off,),
        (breaks_off, breaks_off),
        (problem(503, "model-loading", Retry_After="0"), problem(429, "too-many-attempts", Retry_After="0")),
        (page(502), page(504), page(503)),
    ],
)
def test_what_passes_is_waited_for(failures: tuple[Fail, ...]) -> None:
    with failing(*failures, good={"there": True}) as server:
        http = to(server.url)
        assert http.send("GET", "/health").json() == {"there": True}
        http.close()
        assert len(server.asked) == len(failures) + 1


def test_retry_after_is_kept_to() -> None:
    with failing(problem(503, "worker-busy", Retry_After="1"), good={}) as server:
        started = time.monotonic()
        http = to(server.url)
        http.send("GET", "/health")
        http.close()
        assert time.monotonic() - started > 0.9


def test_retry_after_may_be_a_date() -> None:
    moment = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    with failing(problem(503, "worker-busy", Retry_After=moment)) as server:
        http = to(server.url, patience=1.0)
        with pytest.raises(Unavailable) as raised:
            http.send("GET", "/health")
        http.close()
        assert 25 <= (raised.value.retry_after or 0) <= 31
        assert len(server.asked) == 1


def test_a_server_that_says_no_is_asked_once() -> None:
    with failing(problem(503, "no-worker"), good={}) as server:
        http = to(server.url)
        with pytest.raises(Unavailable) as raised:
            http.send("GET", "/health")
        http.close()
        assert (raised.value.code, raised.value.message, raised.value.remedy) == ("no-worker", "No.", "Wait.")
        assert len(server.asked) == 1


def test_what_must_not_happen_twice_is_not_sent_twice() -> None:
    with failing(breaks_off, good={}) as server:
        http = to(server.url)
        with pytest.raises(Unavailable) as raised:
            http.send("POST", "/shares", repeatable=False, json={})
        http.close()
        assert raised.value.code == "unreachable"
        assert len(server.asked) == 1


def test_patience_ends() -> None:
    with failing(*[page(502)] * 50) as server:
        http = to(server.url, patience=1.0)
        with pytest.raises(HeadscopeError):
            http.send("GET", "/health")
        http.close()
        assert 2 <= len(server.asked) <= 5


def test_nobody_there() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        http = to(f"http://127.0.0.1:{taken.getsockname()[1]}", patience=0.5)
        with pytest.raises(Unavailable, match="does not answer") as raised:
            http.send("GET", "/health")
        http.close()
    assert raised.value.code == "unreachable"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (404, NotFound), (410, errors.Gone), (422, errors.Invalid), (413, errors.TooLarge),
        (409, errors.Refused), (403, errors.Forbidden), (401, errors.SignInNeeded),
        (429, errors.TooManyAttempts), (503, Unavailable), (500, HeadscopeError),
    ],
)  # fmt: skip
def test_a_problem_is_the_error_it_was(status: int, kind: type[HeadscopeError]) -> None:
    with failing(problem(status, "some-code")) as server:
        http = to(server.url)
        with pytest.raises(HeadscopeError) as raised:
            http.send("GET", "/health")
        http.close()
    assert type(raised.value) is kind
    assert raised.value.code == "some-code"


def test_a_page_of_something_else_names_the_address() -> None:
    with failing(page(404)) as server:
        http = to(server.url)
        with pytest.raises(NotFound, match=server.url):
            http.send("GET", "/health")
        http.close()


def test_the_token_goes_along() -> None:
    with failing(good={}) as server:
        http = to(server.url + "/", token="secret")
        http.send("GET", "/health")
        http.close()
        (method, path, headers) = server.asked[0]
    assert (method, path, headers["Authorization"]) == ("GET", "/api/v1/health", "Bearer secret")
