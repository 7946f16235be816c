"""Prompts answered by a worker's endpoint, over HTTP, on a small random model."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import pytest

from headscope.core.arrays import decode, encode
from headscope.errors import Invalid, NotFound, TooLarge, Unavailable
from headscope.messages import GatesIn, PatternsIn
from headscope.messages.questions import GATES, PATTERNS
from headscope.store import evaluations, workers
from headscope.tasks.catalogue import TaskCatalogue
from headscope.worker.lab import patterns as lab_patterns
from worker.conftest import Served, without_workers

TEXT = "the cat sat on the mat"


def test_patterns_are_causal_and_each_row_sums_to_one(worker: Served) -> None:
    answer = worker.client.ask(PATTERNS, PatternsIn(model="tiny", text=TEXT))
    patterns = decode(answer.patterns)
    n = len(answer.tokens)
    assert patterns.shape == (3, 4, n, n)
    assert patterns.dtype == np.float32
    np.testing.assert_allclose(patterns.sum(-1), 1, atol=1e-5)
    assert (np.triu(patterns, 1) == 0).all()
    assert bytes.fromhex("".join(token.hex for token in answer.tokens if not token.special)) == TEXT.encode()


def test_layers_are_those_asked_for(worker: Served) -> None:
    every = decode(worker.client.ask(PATTERNS, PatternsIn(model="tiny", text=TEXT)).patterns)
    answer = worker.client.ask(PATTERNS, PatternsIn(model="tiny", text=TEXT, layers=[2, 0]))
    assert answer.layers == [2, 0]
    np.testing.assert_allclose(decode(answer.patterns), every[[2, 0]], atol=1e-6)


def test_open_gates_change_nothing_and_shut_ones_do(worker: Served) -> None:
    opened = worker.client.ask(GATES, GatesIn(model="tiny", text=TEXT, gates=[[1.0] * 4] * 3))
    assert opened.kl == 0
    assert opened.loss_before == opened.loss_after
    assert all(token.before == token.after for token in opened.next)
    gates = np.ones((3, 4), "f4")
    gates[1, 2] = 0
    shut = worker.client.ask(GATES, GatesIn(model="tiny", text=TEXT, gates=encode(gates), top=3))
    assert shut.kl > 0
    assert len(shut.next) == 3
    assert shut.loss_before == opened.loss_before
    assert shut.loss_after[0] is None
    assert shut.loss_after[1:] != shut.loss_before[1:]
    assert sum(token.before for token in opened.next) <= 1 + 1e-6


@pytest.mark.parametrize(
    ("gates", "says"),
    [([[1.0] * 4] * 2, "2x4"), ([[2.0] * 4] * 3, "is 2"), ([[1.0], [1.0, 1.0]], "not a table")],
)
def test_gates_that_cannot_be_used_say_why(worker: Served, gates: list[list[float]], says: str) -> None:
    with pytest.raises(Invalid, match=says):
        worker.client.ask(GATES, GatesIn(model="tiny", text=TEXT, gates=gates))


def test_text_that_cannot_be_used_says_why(worker: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Invalid) as empty:
        worker.client.ask(PATTERNS, PatternsIn(model="tiny", text="", bos=False))
    with pytest.raises(Invalid) as long:
        worker.client.ask(PATTERNS, PatternsIn(model="tiny", text="cat " * 200))
    with pytest.raises(Invalid) as layer:
        worker.client.ask(PATTERNS, PatternsIn(model="tiny", text=TEXT, layers=[3]))
    assert [error.value.code for error in (empty, long, layer)] == ["empty-text", "too-long", "unknown-layer"]
    assert "Layers run 0-2" in layer.value.remedy
    monkeypatch.setattr(lab_patterns, "MOST_PATTERN_BYTES", 100)
    with pytest.raises(TooLarge):
        worker.client.ask(PATTERNS, PatternsIn(model="tiny", text=TEXT))


def test_an_unknown_model_is_said_to_be(worker: Served) -> None:
    with pytest.raises(NotFound) as error:
        worker.client.ask(PATTERNS, PatternsIn(model="no-such-model", text=TEXT))
    assert error.value.code == "unknown-model"


def test_strangers_are_turned_away(worker: Served) -> None:
    body = {"model": "tiny", "text": TEXT}
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        answer = httpx.post(f"{worker.address}/lab/patterns", json=body, headers=headers, trust_env=False)
        assert answer.status_code == 403


def test_the_model_stays_loaded(worker: Served) -> None:
    worker.client.ask(PATTERNS, PatternsIn(model="tiny", text=TEXT))
    assert worker.handler.models.names() == ["tiny"]
    models = worker.handler.models
    with models.model("tiny", dtype="float32", attention="sdpa") as before:
        pass
    worker.client.ask(PATTERNS, PatternsIn(model="tiny", text=TEXT))
    with models.model("tiny", dtype="float32", attention="sdpa") as after:
        assert after is before


def test_accuracy_is_computed_once_and_kept(worker: Served) -> None:
    task = TaskCatalogue([]).get("induction")
    info = worker.handler.catalogue.info("tiny")
    first = worker.client.accuracy(info, task)
    assert first.status == "computing"
    deadline = time.monotonic() + 60
    while (answer := worker.client.accuracy(info, task)).status == "computing":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert answer.status == "done", answer.detail
    assert answer.verdict == "cannot"
    assert answer.n is not None
    assert answer.n > 0
    assert answer.log_probability is not None
    assert answer.log_probability < 0
    with worker.store.session() as session:
        assert evaluations.get(session, "tiny", info.revision, task.name, task.content_hash) is not None


def test_a_task_too_long_for_the_model_says_so(worker: Served) -> None:
    task = TaskCatalogue([]).get("gsm8k")
    info = worker.handler.catalogue.info("tiny")
    deadline = time.monotonic() + 60
    while (answer := worker.client.accuracy(info, task)).status == "computing":
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert answer.status == "unavailable"
    assert answer.detail


def test_without_a_worker_pages_are_told_at_once(worker: Served, tmp_path: Path) -> None:
    alone = without_workers(worker, tmp_path)
    with pytest.raises(Unavailable) as error:
        alone.client.ask(PATTERNS, PatternsIn(model="tiny", text=TEXT))
    assert error.value.code == "no-worker"
    answer = alone.client.accuracy(worker.handler.catalogue.info("tiny"), TaskCatalogue([]).get("rule-aba"))
    assert (answer.status, answer.accuracy) == ("unavailable", None)
    alone.client.close()
    alone.store.close()


def test_a_worker_that_cannot_be_reached_is_passed_over(worker: Served, tmp_path: Path) -> None:
    alone = without_workers(worker, tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        dead = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with alone.store.session() as session:
        for name, address in (("dead", dead), ("living", worker.address)):
            workers.register(
                session,
                name,
                host="h",
                device="cpu",
                queue="cpu",
                address=address,
                secret="a secret",
                patience=60,
            )
        workers.beat(session, "dead", ["tiny"])  # it would be preferred
    assert alone.client.ask(PATTERNS, PatternsIn(model="tiny", text=TEXT)).model == "tiny"
    alone.client.close()
    alone.store.close()


def test_a_worker_that_dies_while_answering_ends_the_wait(worker: Served, tmp_path: Path) -> None:
    alone = without_workers(worker, tmp_path)
    server = socket.create_server(("127.0.0.1", 0))

    def die() -> None:
        connection, _ = server.accept()
        connection.recv(100)
        connection.close()

    thread = threading.Thread(target=die)
    thread.start()
    with alone.store.session() as session:
        workers.register(
            session, "w", host="h", device="cpu", queue="cpu", secret="s", patience=60,
            address=f"http://127.0.0.1:{server.getsockname()[1]}",
        )  # fmt: skip
    with pytest.raises(Unavailable) as error:
        alone.client.ask(PATTERNS, PatternsIn(model="tiny", text=TEXT))
    assert error.value.code == "worker-died"
    thread.join(5)
    server.close()
    alone.client.close()
    alone.store.close()
