from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest

from headscope.analyses.request import Request
from headscope.errors import NotFound, Refused
from headscope.store import artifacts, attempts, runs, workers
from headscope.store.attempts import Superseded
from headscope.store.session import Store
from headscope.store.tables import now
from store.conftest import result_with

Make = Callable[..., Request]
GATES = np.linspace(0, 1, 12, dtype="f4").reshape(2, 2, 3)


def start(store: Store, request: Request, owner: str = "w1", queue: str | None = "cpu") -> int:
    with store.session() as session:
        workers.register(session, owner, host="h", device="cpu", queue="cpu")
        attempt = runs.create_or_get(session, request, queue=queue).attempt
        assert attempts.claim(session, request.id, attempt, owner, machine="m", code_version="v")
    return attempt


def finish(store: Store, request: Request, attempt: int, gates: np.ndarray, owner: str = "w1") -> None:
    result = result_with(gates)
    with store.session() as session:
        attempts.finish(session, request.id, attempt, owner, result.to_json(), result.arrays, {"n": 1})


def test_the_same_request_is_the_same_run_while_it_waits_computes_and_is_done(
    store: Store, request_for: Make
) -> None:
    request = request_for()
    with store.session() as session:
        first = runs.create_or_get(session, request, queue="cpu")
    with store.session() as session:
        again = runs.create_or_get(session, request, queue="cpu")
    assert (first.new, again.new, again.attempt) == (True, False, 1)
    attempt = start(store, request)
    finish(store, request, attempt, GATES)
    with store.session() as session:
        done = runs.create_or_get(session, request, queue="cpu")
        assert (done.new, done.run.status, done.run.headline) == (False, "done", {"n": 1})


def test_many_at_once_make_one_run_with_one_attempt(store: Store, request_for: Make) -> None:
    new: list[bool] = []

    def ask() -> None:
        with store.session() as session:
            new.append(runs.create_or_get(session, request_for(), queue="cpu").new)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(new) == [False] * 7 + [True]
    with store.session() as session:
        assert len(runs.get(session, request_for().id).attempts) == 1


def test_a_result_survives_and_never_changes(store: Store, request_for: Make) -> None:
    gates = GATES.copy()
    gates[1, 0, 0] = np.nan
    attempt = start(store, request_for())
    finish(store, request_for(), attempt, gates)
    with store.session() as session:
        kept = runs.result(session, request_for().id)
    np.testing.assert_array_equal(kept.arrays["g_plus"], gates)
    with pytest.raises(Superseded):
        finish(store, request_for(), attempt, GATES)
    with store.session() as session:
        np.testing.assert_array_equal(runs.result(session, request_for().id).arrays["g_plus"], gates)


def test_reproducing_adds_an_attempt_with_its_drift_and_leaves_the_result(
    store: Store, request_for: Make
) -> None:
    request = request_for()
    finish(store, request, start(store, request), GATES)
    with store.session() as session:
        again = runs.reproduce(session, request.id, queue="cpu")
        assert again.attempt == 2
        assert runs.reproduce(session, request.id, queue="cpu").new is False
        assert attempts.claim(session, request.id, 2, "w1", machine="m", code_version="v")
    with store.session() as session:
        assert runs.get(session, request.id).status == "done"
        assert runs.get(session, request.id).active
    finish(store, request, 2, GATES + np.float32(0.25))
    with store.session() as session:
        run = runs.get(session, request.id)
        assert [attempt.drift for attempt in run.attempts] == [None, pytest.approx(0.25)]
        np.testing.assert_array_equal(runs.result(session, request.id).arrays["g_plus"], GATES)


def test_identical_attempts_drift_by_nothing_and_a_lost_seed_by_a_whole_gate(
    store: Store, request_for: Make
) -> None:
    request = request_for()
    finish(store, request, start(store, request), GATES)
    with store.session() as session:
        name = runs.get(session, request.id).result_id
        assert name is not None
        lost = GATES.copy()
        lost[0] = np.nan
        assert attempts.drift(session, name, {"g_plus": GATES}) == 0
        assert attempts.drift(session, name, {"g_plus": lost}) == 1


def test_only_a_finished_run_can_be_reproduced(store: Store, request_for: Make) -> None:
    with store.session() as session:
        runs.create_or_get(session, request_for(), queue="cpu")
    with store.session() as session, pytest.raises(Refused) as error:
        runs.reproduce(session, request_for().id, queue="cpu")
    assert error.value.code == "run-not-done"


def test_a_retry_takes_over_the_finished_pieces(store: Store, request_for: Make) -> None:
    from headscope import __version__

    request = request_for()
    with store.session() as session:
        workers.register(session, "w1", host="h", device="cpu", queue="cpu")
        attempt = runs.create_or_get(session, request, queue="cpu").attempt
        attempts.claim(session, request.id, attempt, "w1", machine="m", code_version=__version__)
        name = attempts.keep_piece(session, request.id, attempt, "w1", "zero", {"g": GATES})
        attempts.fail(session, request.id, attempt, "w1", {"code": "boom"})
    with store.session() as session:
        run = runs.get(session, request.id)
        assert (run.status, run.error) == ("failed", {"code": "boom"})
        again = runs.create_or_get(session, request, queue="cpu")
        assert (again.new, again.attempt) == (True, 2)
        assert attempts.pieces(session, request.id, 2) == {"zero": name}
        np.testing.assert_array_equal(artifacts.get_piece(session, name)["g"], GATES)


def test_pieces_go_when_the_run_is_done_and_everything_when_it_is_deleted(
    store: Store, request_for: Make
) -> None:
    request = request_for()
    attempt = start(store, request)
    with store.session() as session:
        name = attempts.keep_piece(session, request.id, attempt, "w1", "zero", {"g": GATES})
    with store.session() as session, pytest.raises(Refused):
        runs.delete(session, request.id)
    finish(store, request, attempt, GATES)
    with store.session() as session, pytest.raises(NotFound):
        artifacts.get(session, name)
    with store.session() as session:
        result = runs.get(session, request.id).result_id
        runs.delete(session, request.id)
    assert result is not None
    with store.session() as session:
        with pytest.raises(NotFound) as error:
            runs.get(session, request.id)
        assert error.value.code == "unknown-run"
        with pytest.raises(NotFound):
            artifacts.get(session, result)


def test_what_waits_is_cancelled_at_once_and_what_computes_is_asked_to_stop(
    store: Store, request_for: Make
) -> None:
    waiting = request_for("b" * 20)
    with store.session() as session:
        runs.create_or_get(session, waiting, queue="cpu")
        assert runs.request_cancel(session, waiting.id).status == "cancelled"
    computing = request_for("c" * 20)
    attempt = start(store, computing)
    with store.session() as session:
        assert runs.request_cancel(session, computing.id).status == "running"
        seen = attempts.state(session, computing.id, attempt)
        assert seen is not None
        assert seen.cancel_requested
        attempts.cancelled(session, computing.id, attempt, "w1")
        assert runs.request_cancel(session, computing.id).status == "cancelled"


def test_a_dead_owners_run_is_cancelled_at_once(store: Store, request_for: Make) -> None:
    start(store, request_for())
    with store.session() as session:
        workers.retire(session, "w1")
        assert runs.request_cancel(session, request_for().id).status == "cancelled"


def test_an_attempt_has_one_owner_and_a_dead_ones_can_be_taken(store: Store, request_for: Make) -> None:
    request = request_for()
    attempt = start(store, request, "w1")
    with store.session() as session:
        workers.register(session, "w2", host="h", device="cpu", queue="cpu")
        assert not attempts.claim(session, request.id, attempt, "w2", machine="m", code_version="v")
        assert attempts.claim(session, request.id, attempt, "w1", machine="m", code_version="v")
        workers.retire(session, "w1")
        assert attempts.claim(session, request.id, attempt, "w2", machine="m", code_version="v")
        workers.beat(session, "w1")  # it was only asleep
    for write in (
        lambda s: attempts.set_progress(s, request.id, attempt, "w1", {}),
        lambda s: attempts.keep_piece(s, request.id, attempt, "w1", "zero", {"g": GATES}),
        lambda s: attempts.fail(s, request.id, attempt, "w1", {}),
    ):
        with store.session() as session, pytest.raises(Superseded):
            write(session)


def test_a_command_line_that_died_leaves_a_run_that_can_be_started_again(
    store: Store, request_for: Make
) -> None:
    request = request_for()
    start(store, request, "cli", queue=None)
    with store.session() as session:
        assert runs.create_or_get(session, request, queue="cpu").new is False
        workers.retire(session, "cli")
        assert attempts.interrupted(session) == [request.id]
        again = runs.create_or_get(session, request, queue="cpu")
        assert (again.new, again.attempt) == (True, 2)
        assert again.run.attempts[0].error is not None
        assert again.run.attempts[0].error["code"] == "interrupted"


def test_runs_are_found_by_what_they_are_about_a_page_at_a_time(store: Store, request_for: Make) -> None:
    with store.session() as session:
        for number in range(5):
            request = request_for(f"{number:020}", task="induction" if number % 2 else "antonym")
            runs.create_or_get(session, request, queue="cpu")
    with store.session() as session:
        page, total = runs.find(session, task="antonym", limit=2)
        assert (total, [run.id[-1] for run in page]) == (3, ["4", "2"])
        page, total = runs.find(session, task="antonym", limit=2, offset=2)
        assert (total, [run.id[-1] for run in page]) == (3, ["0"])
        assert runs.find(session, status="done") == ([], 0)
        assert [run.id[-1] for run in runs.get_many(session, [f"{3:020}", "nothing"])] == ["3"]


def test_a_gallery_run_is_added_once_as_it_was_computed(store: Store, request_for: Make) -> None:
    request, then = request_for(), now()

    def add() -> bool:
        with store.session() as session:
            return runs.add_finished(
                session, request, result_with(GATES), {"n": 2}, origin="gallery", code_version="0.0.9",
                machine="elsewhere", wall_seconds=12.5, finished_at=then,
            )  # fmt: skip

    assert (add(), add()) == (True, False)
    with store.session() as session:
        run = runs.get(session, request.id)
        assert (run.status, run.origin, run.machine, run.wall_seconds) == (
            "done",
            "gallery",
            "elsewhere",
            12.5,
        )
        assert run.finished_at == then
        assert runs.result(session, run.id).values == {"n_test": 4}
