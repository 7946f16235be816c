"""``hs.open``: a server that is there is taken, one that isn't is started."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import headscope as hs
from headscope.errors import Unavailable
from headscope.python import page
from services.server import Server


@pytest.fixture(autouse=True)
def _leaves_no_server() -> Iterator[None]:
    yield
    page.stop_servers()


def shipped() -> hs.Run:
    return next(hs.runs(analysis="chg", model="headscope-2l"))


def test_a_server_is_started_and_then_used_again(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:  # another program's port: neither a server nor free
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        monkeypatch.setenv("HEADSCOPE_PORT", str(taken.getsockname()[1]))
        url = hs.open(shipped(), browser=False)
    assert httpx.get(url).status_code == 200
    assert hs.open(shipped(), browser=False) == url
    assert httpx.get(url.replace("/runs/", "/api/v1/runs/")).json()["status"] == "done"


def test_a_server_on_the_same_store_is_taken(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(here, "--no-worker")
    try:
        monkeypatch.setenv("HEADSCOPE_PORT", server.url.rsplit(":", 1)[1])
        assert hs.open(shipped(), browser=False) == f"{server.url}/runs/{shipped().id}"
    finally:
        server.stop()


def test_a_clients_run_opens_on_its_server(here: Path, server: Server) -> None:
    with hs.Client(server.url) as client:
        run = next(client.runs())
        assert hs.open(run, browser=False) == f"{server.url}/runs/{run.id}"


def test_a_server_that_cannot_start_says_why(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = shipped()
    monkeypatch.setenv("HEADSCOPE_HOST", "192.0.2.7")
    with pytest.raises(Unavailable, match="could not be started"):
        hs.open(hs.Local().run(run.id), browser=False)
