"""The prompt lab over HTTP: what is refused before a worker is asked, and a real worker, killed too."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import numpy as np
import pytest
from starlette.testclient import TestClient

from headscope.core.arrays import decode, encode
from headscope.errors import Unavailable
from headscope.settings import Settings
from services.server import Server
from web.test_problems import failing

LAB = "/api/v1/lab"
MODEL = "headscope-2l"
OPEN = [[1.0] * 8] * 2
PATHS: dict[str, dict[str, Any]] = {
    "look": {},
    "patterns": {},
    "gates": {"gates": OPEN},
    "continue": {"gates": OPEN},
    "ablation": {"layer": 1, "head": 0},
    "attribution": {},
    "lens": {},
}
UNKNOWN_GATES = encode(np.full((2, 8), np.nan, "f4"))


@pytest.mark.parametrize("path", list(PATHS))
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 422, "invalid-request"),
        ({"text": "a", "prompt": "b"}, 422, "invalid-request"),
        ({"text": "x" * 1_000_000}, 422, "invalid-request"),
        ({"text": "a", "wait": 3600}, 422, "invalid-request"),
        ({"text": "a", "wrong": 1}, 422, "invalid-request"),
        ({"text": "a", "model": "gpt9"}, 404, "unknown-model"),
        ({"text": "a", "model": "smollm2-135m"}, 503, "model-not-fetched"),
        ({"prompt": "0123456789abcdef0123"}, 404, "unknown-prompt"),
        ({"text": "a"}, 503, "no-worker"),
    ],
)
def test_each_request_that_cannot_be_answered_says_why(
    bad: TestClient, path: str, body: dict[str, Any], status: int, code: str
) -> None:
    answer = bad.post(f"{LAB}/{path}", json={"model": MODEL, **PATHS[path], **body})
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["detail"]
    assert problem["remedy"]


@pytest.mark.parametrize(
    "content",
    [
        rb'{"model": "headscope-2l", "text": "\ud800"}',
        rb'{"model": "headscope-2l", "text": "a \udfff b"}',
        b'{"model": "headscope-2l", "text": "\xff\xfe"}',
        b'{"model": "headscope-2l", "text": "a"',
        b"",
        b"[]",
        b"null",
    ],
)
def test_bodies_that_are_no_text_are_refused(bad: TestClient, content: bytes) -> None:
    answer = bad.post(f"{LAB}/look", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422), answer.text
    assert answer.json()["remedy"]


@pytest.mark.parametrize(
    ("gates", "says"),
    [
        ("[[1.5, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1]]", "layer 0, head 0 is 1.5"),
        ("[[1, 1, 1, 1, 1, 1, 1, NaN], [1, 1, 1, 1, 1, 1, 1, 1]]", "layer 0, head 7 is nan"),
        ("[[1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, -1e-9, 1, 1]]", "layer 1, head 5"),
        ("[[1e999, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1]]", "inf"),
        ("[[1, 1]]", "send 2x8"),
        ("[[1, 1], [1]]", "not a table"),
        ("[]", "send 2x8"),
        ('{"dtype": "f4", "shape": "1, 1", "bdata": "AACAPw=="}', "send 2x8"),
        ('{"dtype": "f4", "shape": "2, 8", "bdata": "AACAPw=="}', "needs 64 bytes"),
        ('{"dtype": "f4", "shape": "2, 8", "bdata": "!"}', "not base64"),
        (str(UNKNOWN_GATES).replace("'", '"'), "is nan"),
    ],
)
def test_gates_are_checked_before_a_worker_is_asked(bad: TestClient, gates: str, says: str) -> None:
    body = f'{{"model": "{MODEL}", "text": "a b", "gates": {gates}}}'
    for path in ("gates", "look", "continue", "attribution", "lens"):
        answer = bad.post(f"{LAB}/{path}", content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422, answer.text
        assert says in answer.json()["detail"] + answer.json()["remedy"]


def test_when_to_ask_again_is_said(bare: Settings) -> None:
    loading = Unavailable("It is still being loaded.", "Ask again.", code="model-loading", retry_after=2)
    assert failing(bare, loading).get("/api/v1/failing").headers["retry-after"] == "2"
    assert "retry-after" not in failing(bare, Unavailable("No.", "")).get("/api/v1/failing").headers


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("lab"), environment={"OMP_NUM_THREADS": "1"})
    yield running
    running.stop()


def ask(server: Server, path: str, **body: Any) -> httpx.Response:
    return httpx.post(
        f"{server.url}{LAB}/{path}", json={"model": MODEL, **body}, timeout=100, trust_env=False
    )


def answered(server: Server, path: str, **body: Any) -> dict[str, Any]:
    """The answer, once a worker has started and the model is loaded."""
    deadline = time.monotonic() + 120
    while (answer := ask(server, path, **body)).status_code == 503:
        assert answer.json()["code"] in ("no-worker", "model-loading", "worker-died"), answer.text
        assert time.monotonic() < deadline
        time.sleep(0.5)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_every_route_answers(server: Server) -> None:
    seen = answered(server, "look", text="the cat sat. the cat sat")
    n = len(seen["tokens"])
    assert decode(seen["values"]).shape == (len(seen["scores"]), 2, 8)
    assert decode(seen["loss"]).shape == (n,)
    for path, more in PATHS.items():
        answer = answered(server, path, text="the cat sat. the cat sat", **more)
        assert answer["model"] == MODEL
    patterns = answered(server, "patterns", text="a b a b", layers=[1])
    np.testing.assert_allclose(decode(patterns["patterns"]).sum(-1), 1, atol=1e-5)


def test_a_stored_prompt_is_asked_for_by_its_id(server: Server) -> None:
    lines = b'{"text": "one two one two"}\n{"text": "red green red green"}\n'
    files = {"file": ("batch.jsonl", lines)}
    stored = httpx.post(f"{server.url}/api/v1/prompts/upload", files=files, trust_env=False).json()
    by_text = answered(server, "look", text="red green red green")
    assert answered(server, "look", prompt=stored["id"], row=1) == by_text
    assert answered(server, "look", prompt=stored["id"]) != by_text
    beyond = ask(server, "look", prompt=stored["id"], row=2)
    assert (beyond.status_code, beyond.json()["code"]) == (404, "unknown-row")
    assert "0-1" in beyond.json()["remedy"]


def test_a_prompt_longer_than_the_context_is_refused_with_both_numbers(server: Server) -> None:
    answered(server, "lens", text="a")
    n_ctx = answered(server, "look", text="a")["n_ctx"]
    for path, more in PATHS.items():
        answer = ask(server, path, text="word " * 2000, **more)
        problem = answer.json()
        assert (answer.status_code, problem["code"]) == (422, "too-long")
        assert f"reads {n_ctx}" in problem["detail"]
        assert int(problem["detail"].split(" tokens")[0].split()[-1]) > n_ctx


def test_a_worker_killed_in_the_middle_ends_the_wait_and_the_next_one_answers(server: Server) -> None:
    before = answered(server, "gates", text="the cat sat", gates=OPEN)
    pid = server.worker_pid()
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)  # it has the request and answers nothing
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, server, "gates", text="the cat sat", gates=OPEN)
        time.sleep(1)
        assert not asked.done()
        os.kill(pid, signal.SIGKILL)
        answer = asked.result(30)
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (503, "worker-died")
    assert "try again" in problem["remedy"]
    assert answered(server, "gates", text="the cat sat", gates=OPEN) == before


def test_a_drag_is_answered_by_its_newest_request(server: Server) -> None:
    """Thirty requests at once from one board: some are superseded, the last is answered."""
    answered(server, "gates", text="the cat sat", gates=OPEN)
    at_once = threading.Barrier(30)

    def move(turn: int) -> httpx.Response:
        at_once.wait(30)
        gates = [[turn / 30] * 8, [1.0] * 8]
        return ask(server, "gates", text="the cat sat on the cat", gates=gates, board="b", turn=turn)

    with ThreadPoolExecutor(30) as pool:
        answers = list(pool.map(move, range(1, 31)))
    assert {answer.status_code for answer in answers} <= {200, 409}
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} <= {"superseded"}
    assert answers[-1].status_code == 200
