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
from headscope.worker.boards import Boards
from headscope.worker.desk import MOST_INSIDE
from worker.conftest import Office

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
    boards = Boards(most=3)
    third, fourth = boards.enter("gates", "a", 3), boards.enter("gates", "a", 4)
    other, look, nobody = (
        boards.enter("gates", "b", 1),
        boards.enter("look", "b", 0),
        boards.enter("gates", None, 0),
    )
    for check in (fourth, other, look, nobody):
        check()
    with pytest.raises(Refused, match="request 4 is newer") as error:
        third()
    assert error.value.code == "superseded"
    boards.enter("gates", "a", 2)
    fourth()  # one that overtook another on its way
    boards.enter("gates", "c", 1)
    boards.enter("gates", "d", 1)
    assert len(boards._newest) == 3


def test_a_burst_from_one_board_takes_one_answer(office: Office) -> None:
    turn = office.desk.accuracies.turn

    def ask(number: int) -> GatesOut:
        gates = np.ones((3, 4))
        gates[0, 0] = number / 40
        wanted = GatesIn(model="tiny", text=TEXT, gates=gates.tolist(), board="mine", turn=number)
        return office.client.ask(GATES, wanted)

    ask(0)
    with office.desk.resident.model("tiny", dtype="float32", attention="sdpa") as model:
        passes: list[int] = []
        hook = model.module.register_forward_pre_hook(lambda *_: passes.append(1))  # type: ignore[attr-defined]
        with ThreadPoolExecutor(30) as pool:
            with turn.interactive():
                asked = [pool.submit(ask, number) for number in range(1, 31)]
                until(lambda: turn.waiting + sum(future.done() for future in asked) >= 30)
            outcomes = [outcome(future) for future in asked]
        hook.remove()
    assert outcomes == ["superseded"] * 29 + ["answered"]
    assert len(passes) == 1


def test_too_many_requests_are_turned_away_at_once(office: Office) -> None:
    turn = office.desk.accuracies.turn
    wanted = GatesIn(model="tiny", text=TEXT, gates=[[0.5] * 4] * 3)
    with ThreadPoolExecutor(MOST_INSIDE) as pool:
        with turn.interactive():
            asked = [pool.submit(office.client.ask, GATES, wanted) for _ in range(MOST_INSIDE)]
            until(lambda: turn.waiting == MOST_INSIDE)
            start = time.monotonic()
            with pytest.raises(Unavailable) as error:
                office.client.ask(GATES, wanted)
            assert time.monotonic() - start < 5
        assert {outcome(future) for future in asked} == {"answered"}
    assert (error.value.code, error.value.retry_after) == ("worker-busy", 2)


def test_an_accuracy_is_not_waited_for(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    """Prompts that wait, and a worker that answers nobody, leave the page free."""
    monkeypatch.setattr(worker_client, "ACCURACY_PATIENCE", 0.5)
    task, info = TaskCatalogue([]).get("rule-abb"), office.desk.catalogue.info("tiny")
    turn = office.desk.accuracies.turn
    wanted = GatesIn(model="tiny", text=TEXT, gates=[[0.4] * 4] * 3)
    with ThreadPoolExecutor(MOST_INSIDE) as pool:
        with turn.interactive():
            asked = [pool.submit(office.client.ask, GATES, wanted) for _ in range(MOST_INSIDE)]
            until(lambda: turn.waiting == MOST_INSIDE)
            start = time.monotonic()
            answer = office.client.accuracy(info, task)
            assert time.monotonic() - start < 10
        assert {outcome(future) for future in asked} == {"answered"}
    assert answer.status == "computing"


def test_a_continuation_lends_the_device_between_its_tokens(office: Office) -> None:
    """A prompt in the middle of another's gated continuation is answered, and as if it were alone."""
    shut = [[0.0] * 4] * 3
    wanted = ContinueIn(model="tiny", text=TEXT, gates=shut, n_tokens=50)
    alone = office.client.ask(CONTINUE, wanted)
    plain = GatesIn(model="tiny", text="the dog", gates=[[1.0] * 4, [0.5] * 4, [1.0] * 4])
    expected = office.client.ask(GATES, plain)
    answers: list[tuple[float, GatesOut]] = []
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(office.client.ask, CONTINUE, wanted)
        while not running.done():
            office.desk.kept._readings.clear()
            answers.append((time.monotonic(), office.client.ask(GATES, plain)))
        ended = time.monotonic()
    assert running.result() == alone
    assert all(answer == expected for _, answer in answers)
    assert any(at < ended for at, _ in answers)


def test_a_model_that_loads_is_said_to(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    resident = office.desk.resident
    loaded, load = threading.Event(), resident.load
    held = resident._entries.copy()
    resident._entries.clear()

    def slowly(key):  # type: ignore[no-untyped-def]
        loaded.wait(60)
        return load(key)

    monkeypatch.setattr(resident, "load", slowly)
    wanted = GatesIn(model="tiny", text=TEXT, gates=[[0.5] * 4] * 3, wait=0.2)
    try:
        with pytest.raises(Unavailable) as error:
            office.client.ask(GATES, wanted)
        assert (error.value.code, error.value.retry_after) == ("model-loading", 2)
        loaded.set()
        assert office.client.ask(GATES, wanted.model_copy(update={"wait": 60})).model == "tiny"
    finally:
        loaded.set()
        resident._entries.update(held)
