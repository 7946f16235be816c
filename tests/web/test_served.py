"""Over a real socket: a reader that leaves, an upload that is too large, a server that stops."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
import uvicorn

from headscope.settings import Settings
from headscope.store.session import Store
from headscope.web.app import create_app
from web.conftest import Rows


@contextmanager
def serving(settings: Settings) -> Iterator[tuple[str, uvicorn.Server]]:
    """The app behind uvicorn on a free port, in a thread."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(create_app(settings), log_level="error", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", server
        finally:
            server.should_exit = True
            thread.join(20)
            assert not thread.is_alive()


@pytest.fixture
def url(settings: Settings, store: Store) -> Iterator[str]:
    with serving(settings) as (url, _):
        yield url


def test_events_come_at_once_and_end_with_the_reader(settings: Settings, rows: Rows) -> None:
    rows.waiting("a")
    with serving(settings) as (url, server):
        with httpx.stream("GET", f"{url}/api/v1/runs/a/events", timeout=10) as answer:
            lines = answer.iter_lines()
            assert next(lines) == "event: run"
            assert '"status":"queued"' in next(lines)
            assert len(server.server_state.tasks) == 1
        until = time.monotonic() + 10
        while server.server_state.tasks and time.monotonic() < until:
            time.sleep(0.05)
        assert not server.server_state.tasks, "the stream goes on without a reader"


def test_a_server_with_readers_still_stops(settings: Settings, rows: Rows) -> None:
    rows.waiting("a")
    with serving(settings) as (url, server), httpx.Client(timeout=10) as client:
        with client.stream("GET", f"{url}/api/v1/runs/a/events") as answer:
            assert next(answer.iter_lines()) == "event: run"
            server.should_exit = True
            started = time.monotonic()
            while server.server_state.tasks and time.monotonic() - started < 10:
                time.sleep(0.05)
        assert not server.server_state.tasks


@pytest.mark.parametrize("announced", [True, False])
def test_fifty_megabytes_get_an_answer_instead_of_a_broken_connection(url: str, announced: bool) -> None:
    part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="rows.csv"\r\n\r\n'
    chunks = [part, *[b"x" * 2**16] * 800]
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    if announced:
        headers["Content-Length"] = str(sum(map(len, chunks)))
    answer = httpx.post(f"{url}/api/v1/tasks", content=iter(chunks), headers=headers, timeout=30)
    assert (answer.status_code, answer.json()["code"]) == (413, "too-large")


def test_pages_of_other_sites_are_refused(url: str) -> None:
    assert httpx.get(f"{url}/api/v1/runs").status_code == 200
    assert httpx.get(f"{url}/api/v1/runs", headers={"Host": "rebound.example"}).status_code == 403
    foreign = httpx.delete(f"{url}/api/v1/runs/a", headers={"Origin": "https://evil.example"})
    assert foreign.json()["code"] == "origin-not-allowed"
