"""An attempt's life under whatever happens, in any order: a model of a few lines, held against the store.

Two owners, who may die and wake up again, go at one run. Whatever they and its users do: one attempt at most
is under way, only its owner writes to it, finished pieces survive until a whole result is there, and that
result never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sqlalchemy import create_engine, func, select
from sqlalchemy.orm import Session, sessionmaker
from sqlalchemy.pool import StaticPool

from headscope import __version__
from headscope.analyses.request import Request
from headscope.errors import NotFound, Refused
from headscope.store import artifacts, attempts, runs, workers
from headscope.store.attempts import AttemptState, Superseded
from headscope.store.session import Store
from headscope.store.tables import Artifact, Attempt, Base, PieceRow
from store.conftest import result_with

Make = Callable[..., Request]
OWNERS = st.sampled_from(["one", "other"])
KEYS = st.sampled_from(["zero", "plus"])
ENDED = ("done", "failed", "cancelled")
GATES = np.linspace(0, 1, 12, dtype="f4").reshape(2, 2, 3)


@dataclass
class Expected:
    """An attempt as it should be."""

    kind: str
    status: str = "queued"
    owner: str | None = None
    asked_to_stop: bool = False
    pieces: set[str] = field(default_factory=set)


class Life(RuleBasedStateMachine):
    """One run in an empty database; ``tried`` is what should be there of it."""

    request: ClassVar[Request]

    def __init__(self) -> None:
        super().__init__()
        engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
        Base.metadata.create_all(engine)
        self.store = Store(engine, sessionmaker(engine, expire_on_commit=False))
        self.tried: list[Expected] = []
        self.result: float | None = None
        self.alive: set[str] = set()

    def teardown(self) -> None:
        self.store.close()

    @property
    def last(self) -> Expected:
        return self.tried[-1]

    def holds(self, owner: str) -> bool:
        """Whether this owner may write now."""
        return bool(self.tried) and self.last.status == "running" and self.last.owner == owner

    @contextmanager
    def by(self, owner: str) -> Iterator[Session]:
        """A write of an owner's: refused unless the attempt is in its hands."""
        if self.holds(owner):
            with self.store.session() as session:
                yield session
        else:
            with pytest.raises(Superseded if self.tried else (Superseded, NotFound)):  # noqa: SIM117
                with self.store.session() as session:
                    yield session

    # -- what its users do --------------------------------------------------------------------------

    @rule()
    def ask(self) -> None:
        with self.store.session() as session:
            asked = runs.create_or_get(session, self.request, queue="cpu")
            new, number = asked.new, asked.attempt
        if not self.tried:
            self.tried.append(Expected("first"))
            assert new
        elif self.result is None and self.last.status in ("failed", "cancelled"):
            self.tried.append(Expected("retry", pieces=self.last.pieces))
            self.tried[-2].pieces = set()
            assert new
        else:
            assert not new
        assert number == len(self.tried)

    @precondition(lambda self: self.tried)
    @rule()
    def reproduce(self) -> None:
        under_way = self.last.kind == "reproduce" and self.last.status not in ENDED
        if self.result is None:
            with self.store.session() as session, pytest.raises(Refused, match="no complete result"):
                runs.reproduce(session, self.request.id, queue="cpu")
            return
        with self.store.session() as session:
            assert runs.reproduce(session, self.request.id, queue="cpu").new is not under_way
        if not under_way:
            self.last.pieces = set()
            self.tried.append(Expected("reproduce"))

    @precondition(lambda self: self.tried)
    @rule()
    def cancel(self) -> None:
        with self.store.session() as session:
            runs.request_cancel(session, self.request.id)
        if self.last.status == "running" and self.last.owner in self.alive:
            self.last.asked_to_stop = True
        elif self.last.status not in ENDED:
            self.last.status = "cancelled"

    @precondition(lambda self: self.tried)
    @rule()
    def delete(self) -> None:
        if self.last.status in ENDED:
            with self.store.session() as session:
                runs.delete(session, self.request.id)
            self.tried, self.result = [], None
        else:
            with self.store.session() as session, pytest.raises(Refused, match="Cancel it first"):
                runs.delete(session, self.request.id)

    # -- what happens to owners ---------------------------------------------------------------------

    @rule(owner=OWNERS)
    def start(self, owner: str) -> None:
        with self.store.session() as session:
            workers.register(session, owner, host="h", device="cpu", queue="cpu", patience=3600)
        self.alive.add(owner)

    @rule(owner=OWNERS)
    def die(self, owner: str) -> None:
        with self.store.session() as session:
            workers.retire(session, owner)
        self.alive.discard(owner)

    # -- what owners do -----------------------------------------------------------------------------

    @precondition(lambda self: self.tried)
    @rule(owner=OWNERS)
    def claim(self, owner: str) -> None:
        running = self.last.status == "running"
        free = self.last.status == "queued" or (
            running and (self.last.owner == owner or self.last.owner not in self.alive)
        )
        with self.store.session() as session:
            number = len(self.tried)
            got = attempts.claim(
                session, self.request.id, number, owner, machine="m", code_version=__version__
            )
        assert got == free
        if free:
            self.last.status, self.last.owner = "running", owner

    @rule(owner=OWNERS, key=KEYS)
    def keep_piece(self, owner: str, key: str) -> None:
        with self.by(owner) as session:
            attempts.keep_piece(session, self.request.id, len(self.tried), owner, key, {"key": key})
            self.last.pieces.add(key)

    @rule(owner=OWNERS)
    def say_progress(self, owner: str) -> None:
        with self.by(owner) as session:
            attempts.set_progress(session, self.request.id, len(self.tried), owner, {"fraction": 0.5})

    @rule(owner=OWNERS, gate=st.sampled_from([0.25, 0.75]))
    def finish(self, owner: str, gate: float) -> None:
        outcome, number = result_with(np.full((2, 2, 3), gate, "f4")), len(self.tried)
        with self.by(owner) as session:
            attempts.finish(
                session, self.request.id, number, owner, outcome.to_json(), outcome.arrays, {"gate": gate}
            )
            self.last.status, self.last.pieces = "done", set()
        if self.tried and self.last.status == "done" and self.result is None:
            self.result = gate

    @rule(owner=OWNERS)
    def fail(self, owner: str) -> None:
        with self.by(owner) as session:
            attempts.fail(session, self.request.id, len(self.tried), owner, {"code": "boom"})
            self.last.status = "failed"

    @rule(owner=OWNERS)
    def stop(self, owner: str) -> None:
        with self.by(owner) as session:
            attempts.cancelled(session, self.request.id, len(self.tried), owner)
            self.last.status = "cancelled"

    # -- what holds at all times --------------------------------------------------------------------

    @invariant()
    def attempts_are_as_expected(self) -> None:
        with self.store.session() as session:
            rows = session.scalars(select(Attempt).order_by(Attempt.number)).all()
            assert [(row.kind, row.status, row.owner) for row in rows] == [
                (each.kind, each.status, each.owner) for each in self.tried
            ]
            assert [row.cancel_requested_at is not None for row in rows] == [
                each.asked_to_stop for each in self.tried
            ]
            for row, each in zip(rows, self.tried, strict=True):
                assert set(attempts.pieces(session, self.request.id, row.number)) == each.pieces
                assert (row.finished_at is not None) == (each.status in ENDED)
            assert sum(row.status not in ENDED for row in rows) <= 1

    @invariant()
    def the_run_says_what_its_attempts_do(self) -> None:
        if not self.tried:
            with self.store.session() as session, pytest.raises(NotFound):
                runs.get(session, self.request.id)
            return
        with self.store.session() as session:
            run = runs.get(session, self.request.id)
            assert run.active == (self.last.status not in ENDED)
            assert run.status == ("done" if self.result is not None else self.last.status)
            if self.result is None:
                assert run.result_id is None
            else:
                assert run.headline == {"gate": self.result}
                kept = runs.result(session, run.id).arrays["g_plus"]
                np.testing.assert_array_equal(kept, np.full((2, 2, 3), self.result, "f4"))

    @invariant()
    def nothing_is_kept_that_nobody_names(self) -> None:
        with self.store.session() as session:
            named = {row.artifact_id for row in session.scalars(select(PieceRow))}
            named |= set(session.scalars(select(Attempt.result_id).where(Attempt.result_id.is_not(None))))
            assert session.scalar(select(func.count()).select_from(Artifact)) == len(named)


def test_whatever_happens_in_any_order(request_for: Make) -> None:
    from hypothesis.stateful import run_state_machine_as_test

    Life.request = request_for()
    run_state_machine_as_test(Life, settings=settings(max_examples=20, stateful_step_count=30, deadline=None))


# -- what the model leaves out -------------------------------------------------------------------------


def started(session: Session, request: Request, owner: str = "w", *, queue: str | None = "cpu") -> int:
    """A claimed attempt of a living owner."""
    workers.register(session, owner, host="h", device="cpu", queue="cpu", patience=3600)
    number = runs.create_or_get(session, request, queue=queue).attempt
    assert attempts.claim(session, request.id, number, owner, machine="m", code_version=__version__)
    return number


def test_a_retry_of_another_version_starts_from_nothing(store: Store, request_for: Make) -> None:
    request = request_for()
    with store.session() as session:
        number = runs.create_or_get(session, request, queue="cpu").attempt
        attempts.claim(session, request.id, number, "w", machine="m", code_version="0.0.1")
        attempts.keep_piece(session, request.id, number, "w", "zero", {"n": 1})
        attempts.fail(session, request.id, number, "w", {"code": "boom"})
    with store.session() as session:
        assert runs.create_or_get(session, request, queue="cpu").attempt == 2
        assert attempts.pieces(session, request.id, 1) == attempts.pieces(session, request.id, 2) == {}
        assert session.scalar(select(func.count()).select_from(Artifact)) == 0


def test_a_piece_kept_again_takes_the_place_of_the_first(store: Store, request_for: Make) -> None:
    request = request_for()
    with store.session() as session:
        number = started(session, request)
        first = attempts.keep_piece(session, request.id, number, "w", "zero", {"n": 1})
        second = attempts.keep_piece(session, request.id, number, "w", "zero", {"n": 2})
    with store.session() as session:
        assert attempts.pieces(session, request.id, number) == {"zero": second} != {"zero": first}
        assert artifacts.get_piece(session, second) == {"n": 2}


def test_a_command_line_takes_its_attempt_out_of_the_queue(store: Store, request_for: Make) -> None:
    request = request_for()
    with store.session() as session:
        number = runs.create_or_get(session, request, queue="cpu").attempt
        assert attempts.claim(
            session, request.id, number, "cli", machine="m", code_version="v", foreground=True
        )
        assert runs.get(session, request.id).queue is None
        assert not attempts.claim(session, request.id, 7, "cli", machine="m", code_version="v")
        assert not attempts.claim(session, "none", 1, "cli", machine="m", code_version="v")


def test_progress_is_that_of_the_attempt_under_way(store: Store, request_for: Make) -> None:
    request = request_for()
    with store.session() as session:
        number = started(session, request)
        attempts.set_progress(session, request.id, number, "w", {"phase": "plus", "fraction": 0.5})
    with store.session() as session:
        assert runs.get(session, request.id).progress == {"phase": "plus", "fraction": 0.5}
        assert attempts.state(session, request.id, number) == AttemptState("running", "w", False)
        assert attempts.state(session, request.id, 2) is None
        attempts.fail(session, request.id, number, "w", {"code": "boom"})
    with store.session() as session:
        run = runs.get(session, request.id)
        assert run.progress is None
        assert run.error == {"code": "boom"}
        assert run.wall_seconds is not None
        assert run.wall_seconds >= 0


def test_a_partial_result_is_replaced_by_the_next_and_by_the_whole(store: Store, request_for: Make) -> None:
    request = request_for()
    with store.session() as session:
        number = started(session, request)
        attempts.cancelled(session, request.id, number, "w")
        for seeds in (1, 2):
            attempts.keep_partial(session, runs.get(session, request.id), {"seeds": seeds}, {"n": seeds})
        run = runs.get(session, request.id)
        assert (run.partial, run.whole, run.status, run.headline) == (True, False, "cancelled", {"n": 2})
        assert runs.result_json(session, request.id) == {"seeds": 2}
        assert session.scalar(select(func.count()).select_from(Artifact)) == 1
    with store.session() as session, pytest.raises(Refused, match="no complete result"):
        runs.reproduce(session, request.id, queue="cpu")
    with store.session() as session:
        number, outcome = started(session, request), result_with(GATES)
        attempts.finish(session, request.id, number, "w", outcome.to_json(), outcome.arrays, {"n": 3})
    with store.session() as session:
        run = runs.get(session, request.id)
        assert (run.partial, run.whole, run.headline) == (False, True, {"n": 3})
        assert run.attempts[-1].drift is None, "a partial result is nothing to drift from"


def test_a_failed_reproduction_leaves_the_run_done(store: Store, request_for: Make) -> None:
    request, outcome = request_for(), result_with(GATES)
    with store.session() as session:
        number = started(session, request)
        attempts.finish(session, request.id, number, "w", outcome.to_json(), outcome.arrays, {})
        again = runs.reproduce(session, request.id, queue="gpu").attempt
        assert attempts.claim(session, request.id, again, "w", machine="other", code_version="v")
        attempts.fail(session, request.id, again, "w", {"code": "boom"})
    with store.session() as session:
        run = runs.get(session, request.id)
        assert (run.status, run.error, run.active) == ("done", None, False)
        assert (run.machine, run.told.number, run.last.number) == ("m", 1, 2)


def drifted(session: Session, first: dict[str, Any], then: dict[str, Any]) -> float:
    earlier = result_with(GATES)
    name = artifacts.put_json(session, {**earlier.to_json(with_arrays=False), **_encoded(first)})
    return attempts.drift(session, name, then)


def _encoded(arrays: dict[str, Any]) -> dict[str, Any]:
    from headscope.core.arrays import encode

    return {name: encode(array) for name, array in arrays.items()}


@pytest.mark.parametrize(
    ("first", "then", "apart"),
    [
        ({"g_plus": [0.0, 1.0]}, {"g_plus": [0.0, 0.75]}, 0.25),
        ({"g_plus": [0.5], "g_minus": [0.5]}, {"g_plus": [0.5], "g_minus": [0.0]}, 0.5),
        ({"g_plus": [0.5], "loss": [1.0]}, {"g_plus": [0.5], "loss": [9.0]}, 0.0),
        ({"loss": [1.0]}, {"loss": [9.0]}, 8.0),
        ({"loss": [1.0]}, {}, 0.0),
        ({"g_plus": [0.5, 0.5]}, {"g_plus": [0.5]}, 1.0),
        ({}, {"g_plus": [0.5]}, 1.0),
        ({"g_plus": [np.nan, 0.5]}, {"g_plus": [np.nan, 0.25]}, 0.25),
        ({"g_plus": [np.nan, 0.5]}, {"g_plus": [0.5, 0.5]}, 1.0),
        ({"g_plus": [np.nan]}, {"g_plus": [np.nan]}, 0.0),
        ({"g_plus": []}, {"g_plus": []}, 0.0),
    ],
)
def test_drift(store: Store, first: dict[str, Any], then: dict[str, Any], apart: float) -> None:
    one, other = ({name: np.array(each, "f4") for name, each in given.items()} for given in (first, then))
    with store.session() as session:
        assert drifted(session, one, other) == pytest.approx(apart)


def test_whole_numbers_do_not_drift(store: Store) -> None:
    with store.session() as session:
        assert drifted(session, {"order": np.arange(3)}, {"order": np.arange(3)[::-1]}) == 0
