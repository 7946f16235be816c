"""Who is answered when many ask: the newest of a board, in order; nobody waits for another's model."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import pytest

from headscope.errors import HeadscopeError, Refused, Unavailable
from headscope.messages import ContinueIn, GatesIn, GatesOut
from headscope.messages.questions import CONTINUE, GATES
from headscope.tasks.catalogue import TaskCatalogue
from headscope.worker import client as worker_client
from headscope.worker.handler import MOST_INSIDE
from headscope.worker.latest import LatestRequests
from worker.conftest import Served

TEXT = "the cat sat on the mat"


def until(there: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def outcome(future: Future[GatesOut]) -> str:
    error = future.exception(timeout=60)
    if error is None:
        return "answered"
    assert isinstance(error, HeadscopeError)
    return error.code


def test_only_a_newer_request_of_the_same_board_supersedes() -> None:
    latest = LatestRequests(most=3)
    third, fourth = latest.enter("gates", "a", 3), latest.enter("gates", "a", 4)
    other, look, nobody = (
        latest.enter("gates", "b", 1),
        latest.enter("look", "b", 0),
        latest.enter("gates", None, 0),
    )
    for check in (fourth, other, look, nobody):
        check()
    with pytest.raises(Refused, match="request 4 is newer") as error:
        third()
    assert error.value.code == "superseded"
    latest.enter("gates", "a", 2)
    fourth()  # one that overtook another on its way
    latest.enter("gates", "c", 1)
    latest.enter("gates", "d", 1)
    assert len(latest._newest) == 3


def test_a_burst_from_one_board_takes_one_answer(worker: Served) -> None:
    queue = worker.handler.accuracies.device_queue

    def ask(number: int) -> GatesOut:
        gates = np.ones((3, 4))
        gates[0, 0] = number / 40
        wanted = GatesIn(model="tiny", text=TEXT, gates=gates.tolist(), board="mine", turn=number)
        return worker.client.ask(GATES, wanted)

    ask(0)
    with worker.handler.models.model("tiny", dtype="float32", attention="sdpa") as model:
        passes: list[int] = []
        hook = model.module.register_forward_pre_hook(lambda *_: passes.append(1))  # type: ignore[attr-defined]
        with ThreadPoolExecutor(30) as pool:
            with queue.interactive():
                asked = [pool.submit(ask, number) for number in range(1, 31)]
                until(lambda: queue.waiting + sum(future.done() for future in asked) >= 30)
            outcomes = [outcome(future) for future in asked]
        hook.remove()
    assert outcomes == ["superseded"] * 29 + ["answered"]
    assert len(passes) == 1


def test_too_many_requests_are_turned_away_at_once(worker: Served) -> None:
    queue = worker.handler.accuracies.device_queue
    wanted = GatesIn(model="tiny", text=TEXT, gates=[[0.5] * 4] * 3)
    with ThreadPoolExecutor(MOST_INSIDE) as pool:
        with queue.interactive():
            asked = [pool.submit(worker.client.ask, GATES, wanted) for _ in range(MOST_INSIDE)]
            until(lambda: queue.waiting == MOST_INSIDE)
            start = time.monotonic()
            with pytest.raises(Unavailable) as error:
                worker.client.ask(GATES, wanted)
            assert time.monotonic() - start < 5
        assert {outcome(future) for future in asked} == {"answered"}
    assert (error.value.code, error.value.retry_after) == ("worker-busy", 2)


def test_an_accuracy_is_not_waited_for(worker: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prompts that wait, and a worker that answers nobody, leave the page free."""
    monkeypatch.setattr(worker_client, "ACCURACY_PATIENCE", 0.5)
    task, info = TaskCatalogue([]).get("rule-abb"), worker.handler.catalogue.info("tiny")
    queue = worker.handler.accuracies.device_queue
    wanted = GatesIn(model="tiny", text=TEXT, gates=[[0.4] * 4] * 3)
    with ThreadPoolExecutor(MOST_INSIDE) as pool:
        with queue.interactive():
            asked = [pool.submit(worker.client.ask, GATES, wanted) for _ in range(MOST_INSIDE)]
            until(lambda: queue.waiting == MOST_INSIDE)
            start = time.monotonic()
            answer = worker.client.accuracy(info, task)
            assert time.monotonic() - start < 10
        assert {outcome(future) for future in asked} == {"answered"}
    assert answer.status == "computing"


def test_a_continuation_lends_the_device_between_its_tokens(worker: Served) -> None:
    """A prompt in the middle of another's gated continuation is answered, and as if it were alone."""
    shut = [[0.0] * 4] * 3
    wanted = ContinueIn(model="tiny", text=TEXT, gates=shut, n_tokens=50)
    alone = worker.client.ask(CONTINUE, wanted)
    plain = GatesIn(model="tiny", text="the dog", gates=[[1.0] * 4, [0.5] * 4, [1.0] * 4])
    expected = worker.client.ask(GATES, plain)
    answers: list[tuple[float, GatesOut]] = []
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(worker.client.ask, CONTINUE, wanted)
        while not running.done():
            worker.handler.readings._readings.clear()
            answers.append((time.monotonic(), worker.client.ask(GATES, plain)))
        ended = time.monotonic()
    assert running.result() == alone
    assert all(answer == expected for _, answer in answers)
    assert any(at < ended for at, _ in answers)


def test_a_model_that_loads_is_said_to(worker: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    models = worker.handler.models
    loaded, load = threading.Event(), models.load
    held = models._entries.copy()
    models._entries.clear()

    def slowly(key):  # type: ignore[no-untyped-def]
        loaded.wait(60)
        return load(key)

    monkeypatch.setattr(models, "load", slowly)
    wanted = GatesIn(model="tiny", text=TEXT, gates=[[0.5] * 4] * 3, wait=0.2)
    try:
        with pytest.raises(Unavailable) as error:
            worker.client.ask(GATES, wanted)
        assert (error.value.code, error.value.retry_after) == ("model-loading", 2)
        loaded.set()
        assert worker.client.ask(GATES, wanted.model_copy(update={"wait": 60})).model == "tiny"
    finally:
        loaded.set()
        models._entries.update(held)
