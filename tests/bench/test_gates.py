"""How fast the mixing board follows the hand: 64 tokens, idle and beside a fit of the same model."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from headscope.core.arrays import encode
from models.test_smollm2 import folder  # noqa: F401
from services.bench import Bench
from services.server import Server

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1200)]

SHAPES = {"headscope-2l": (2, 8), "smollm2-135m": (30, 9)}
IDLE = {"headscope-2l": 0.2, "smollm2-135m": 0.4}
BESIDE = {"headscope-2l": 0.2, "smollm2-135m": 1.5}
TASKS = {"headscope-2l": "induction", "smollm2-135m": "singular-plural"}
MOVES = 40
WORDS = "The old wizard met a dragon by the river, and the dragon told the old wizard about the river. " * 8


@pytest.fixture(scope="module")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:  # noqa: F811
    data = tmp_path_factory.mktemp("gates")
    (data / "models").mkdir()
    (data / "models" / "smollm2-135m").symlink_to(folder)
    running = Server(data)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx.Client]:
    """One connection, as a page has."""
    with httpx.Client(base_url=f"{server.url}/api/v1", timeout=120, trust_env=False) as client:
        yield client


def text_of(client: httpx.Client, model: str, n_tokens: int = 64) -> str:
    """A text of exactly so many tokens."""
    tokens = client.post("/prompts/tokenize", json={"model": model, "text": WORDS}).json()["tokens"]
    text = WORDS.encode()[: tokens[n_tokens - 1]["end"]].decode()
    again = client.post("/prompts/tokenize", json={"model": model, "text": text}).json()["tokens"]
    assert len(again) == n_tokens
    return text


def warm(client: httpx.Client, model: str, text: str) -> None:
    """Wait until the worker is there and has the model."""
    while (answer := client.post("/lab/look", json={"model": model, "text": text})).status_code == 503:
        time.sleep(0.5)
    assert answer.status_code == 200, answer.text


def move(client: httpx.Client, model: str, text: str, turn: int, board: str) -> httpx.Response:
    """One move of a slider: other gates each time."""
    source = np.random.default_rng(turn)
    gates = encode(source.random(SHAPES[model]).astype("f4"))
    body = {"model": model, "text": text, "gates": gates, "board": board, "turn": turn}
    return client.post("/lab/gates", json=body)


def p95(client: httpx.Client, model: str, text: str) -> float:
    """Seconds from changed gates to an answer, one after the other, as the page asks."""
    took, board = [], uuid.uuid4().hex
    for turn in range(MOVES):
        started = time.monotonic()
        answer = move(client, model, text, turn, board)
        took.append(time.monotonic() - started)
        assert answer.status_code == 200, answer.text
    return float(np.quantile(took, 0.95))


@pytest.mark.parametrize("model", list(SHAPES))
def test_gates_idle(client: httpx.Client, bench: Bench, model: str) -> None:
    text = text_of(client, model)
    warm(client, model, text)
    bench.at_most(
        f"{model}: gates changed to answer, 64 tokens, idle, p95", p95(client, model, text), IDLE[model]
    )


@pytest.mark.parametrize("model", list(SHAPES))
def test_gates_beside_a_fit(client: httpx.Client, bench: Bench, model: str) -> None:
    text = text_of(client, model)
    warm(client, model, text)
    wanted = {"analysis": "chg", "model": model, "task": TASKS[model], "preset": "quick"}
    run = client.post("/runs", json=wanted).json()["id"]
    try:
        until(client, run, lambda shown: shown["status"] == "running" and shown["progress"] is not None)
        found = p95(client, model, text)
        status = client.get(f"/runs/{run}").json()["status"]
        assert status == "running", "the fit ended before the measurement did"
    finally:
        client.post(f"/runs/{run}/cancel")
        until(client, run, lambda shown: shown["status"] not in ("queued", "running"))
    name = f"{model}: gates changed to answer, 64 tokens, beside a quick fit, p95"
    bench.at_most(name, found, BESIDE[model])


def test_a_burst_of_one_board_takes_few_passes(client: httpx.Client, bench: Bench) -> None:
    model = "smollm2-135m"
    text = text_of(client, model)
    warm(client, model, text)
    one = min(seconds(lambda turn=turn: move(client, model, text, turn, "one")) for turn in range(5))
    at_once = threading.Barrier(30)

    def drag(turn: int) -> int:
        at_once.wait(30)
        return move(client, model, text, turn, "burst").status_code

    with ThreadPoolExecutor(30) as pool:
        started = time.monotonic()
        codes = list(pool.map(drag, range(1, 31)))
        took = time.monotonic() - started
    assert codes[-1] == 200
    assert set(codes) <= {200, 409}
    bench.at_most("30 moves at once from one board: answered", codes.count(200), 10, "requests")
    bench.at_most("30 moves at once from one board, in passes of one", took / one, 15, "passes")


def until(client: httpx.Client, run: str, there: Any) -> None:
    """Wait for a run to be as wanted."""
    deadline = time.monotonic() + 300
    while not there(shown := client.get(f"/runs/{run}").json()):
        assert time.monotonic() < deadline, shown
        time.sleep(0.2)


def seconds(act: Any) -> float:
    started = time.monotonic()
    act()
    return time.monotonic() - started
