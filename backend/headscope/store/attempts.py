"""An attempt's life: queued -> running -> done | failed | cancelled, with one owner at a time.

Every write of an owner is guarded by its name: a process that was stopped, declared dead and woke up
again finds its attempt in other hands and gets ``Superseded``, whatever it was about to write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, and_, delete, or_, select, update
from sqlalchemy.orm import Session

from headscope.core.arrays import decode
from headscope.errors import NotFound
from headscope.store import artifacts, workers
from headscope.store.artifacts import Arrays, Kept
from headscope.store.tables import Attempt, PieceRow, Run, now

_STARTING = timedelta(seconds=60)
"""How long a command line may take between writing its attempt down and claiming it."""

INTERRUPTED: Mapping[str, Any] = {
    "type": "about:blank",
    "title": "Interrupted",
    "status": 503,
    "code": "interrupted",
    "detail": "The process that computed this run ended before it finished.",
    "remedy": "Run it again: it resumes at the first unfinished piece.",
}


class Superseded(Exception):
    """The attempt is no longer this owner's: it was handed on, cancelled or deleted."""


@dataclass(frozen=True)
class AttemptState:
    """What an owner must know between two pieces of work."""

    status: str
    owner: str | None
    cancel_requested: bool


def lock(session: Session, run_id: str) -> Run:
    """The run, with all other writers of it kept waiting; ``NotFound`` (unknown-run) where there is none."""
    # A write, because SQLite locks on writing only.
    if session.execute(update(Run).where(Run.id == run_id).values(id=run_id)).rowcount == 0:  # type: ignore[attr-defined]
        raise unknown(run_id)
    return session.get_one(Run, run_id, populate_existing=True)


def unknown(run_id: str) -> NotFound:
    """The error for a run that isn't there."""
    return NotFound(
        f"There is no run {run_id!r}.", "See the list of runs; it may have been deleted.", code="unknown-run"
    )


def add(session: Session, run: Run, kind: str, *, queue: str | None, code_version: str) -> Attempt:
    """Another attempt at a locked run. A retry takes over what the same version left finished before it."""
    before = run.attempts[-1] if run.attempts else None
    attempt = Attempt(
        run_id=run.id, number=before.number + 1 if before else 1, kind=kind, queue=queue, status="queued",
        code_version=code_version, created_at=now(),
    )  # fmt: skip
    run.attempts.append(attempt)
    session.flush()
    if before is not None:
        if kind == "retry" and before.code_version == code_version:
            _move_pieces(session, run.id, before.number, attempt.number)
        else:
            _drop_pieces(session, run.id, before.number)
    _mirror(run, attempt)
    return attempt


def claim(
    session: Session,
    run_id: str,
    number: int,
    owner: str,
    *,
    machine: str,
    code_version: str,
    foreground: bool = False,
) -> bool:
    """Take an attempt into one's hands: one that waits, that is one's own, or whose owner is dead.

    False where it is finished, cancelled, gone, or someone living has it. ``foreground`` takes it out of its
    queue: no worker resumes it if this process dies.
    """
    free = or_(
        Attempt.status == "queued",
        and_(
            Attempt.status == "running",
            or_(Attempt.owner == owner, Attempt.owner.is_(None), Attempt.owner.not_in(workers.living())),
        ),
    )
    this = and_(Attempt.run_id == run_id, Attempt.number == number)
    taken = session.execute(
        update(Attempt)
        .where(this, free)
        .values(
            status="running",
            owner=owner,
            machine=machine,
            code_version=code_version,
            queue=None if foreground else Attempt.queue,
        )
    )
    if taken.rowcount == 0:  # type: ignore[attr-defined]
        return False
    session.execute(update(Attempt).where(this, Attempt.started_at.is_(None)).values(started_at=now()))
    run = lock(session, run_id)
    _mirror(run, _numbered(run, number))
    return True


def state(session: Session, run_id: str, number: int) -> AttemptState | None:
    """Status, owner and whether cancelling was asked for; None where the run was deleted."""
    row = session.execute(
        select(Attempt.status, Attempt.owner, Attempt.cancel_requested_at).where(
            Attempt.run_id == run_id, Attempt.number == number
        )
    ).one_or_none()
    return None if row is None else AttemptState(row[0], row[1], row[2] is not None)


def set_progress(session: Session, run_id: str, number: int, owner: str, progress: Mapping[str, Any]) -> None:
    """Say how far it is; raises ``Superseded``."""
    _guarded(session, run_id, number, owner, progress=dict(progress))


def keep_piece(session: Session, run_id: str, number: int, owner: str, key: str, kept: Kept) -> str:
    """Keep what a finished piece answered and return its artifact's id; raises ``Superseded``."""
    _guarded(session, run_id, number, owner, status="running")
    name = artifacts.put_piece(session, kept)
    session.merge(PieceRow(run_id=run_id, attempt=number, key=key, artifact_id=name, created_at=now()))
    return name


def pieces(session: Session, run_id: str, number: int) -> dict[str, str]:
    """Artifact ids of the pieces that are finished, by key."""
    rows = session.execute(
        select(PieceRow.key, PieceRow.artifact_id).where(
            PieceRow.run_id == run_id, PieceRow.attempt == number
        )
    )
    return {row.key: row.artifact_id for row in rows}


def finish(
    session: Session,
    run_id: str,
    number: int,
    owner: str,
    content: Mapping[str, Any],
    arrays: Arrays,
    headline: Mapping[str, Any],
) -> None:
    """End an attempt well: its result becomes the run's (in place of a partial one), or is compared with it.
    Raises ``Superseded``.

    ``content`` is the result as JSON, ``arrays`` its arrays.
    """
    run = lock(session, run_id)
    attempt = _held(run, number, owner)
    attempt.result_id = artifacts.put_json(session, content)
    if run.result_id is None or run.partial:
        run.result_id, run.headline = attempt.result_id, dict(headline)
    else:
        attempt.drift = drift(session, run.result_id, arrays)
    _end(session, run, attempt, "done")


def keep_partial(session: Session, run: Run, content: Mapping[str, Any], headline: Mapping[str, Any]) -> None:
    """Give a run that was stopped a result of what was whole, in place of an earlier such one."""
    run.result_id, run.headline = artifacts.put_json(session, content), dict(headline)
    session.flush()
    artifacts.drop_unused(session)


def fail(session: Session, run_id: str, number: int, owner: str, problem: Mapping[str, Any]) -> None:
    """End an attempt with its error as a problem document (RFC 9457). Raises ``Superseded``."""
    run = lock(session, run_id)
    attempt = _held(run, number, owner)
    attempt.error = dict(problem)
    _end(session, run, attempt, "failed")


def cancelled(session: Session, run_id: str, number: int, owner: str) -> None:
    """End an attempt that its owner was asked to stop. Raises ``Superseded``."""
    run = lock(session, run_id)
    _end(session, run, _held(run, number, owner), "cancelled")


def request_cancel(session: Session, run_id: str) -> Run:
    """Ask for a stop. What waits, or whose owner is dead, is cancelled at once; what has ended stays."""
    run = lock(session, run_id)
    attempt = run.last
    if attempt.status == "running" and workers.is_alive(session, attempt.owner):
        attempt.cancel_requested_at = attempt.cancel_requested_at or now()
        session.flush()
    elif attempt.status in ("queued", "running"):
        _end(session, run, attempt, "cancelled")
    return run


def expire_interrupted(session: Session, run: Run) -> None:
    """End a locked run's attempt that a command line left behind: nobody else resumes it."""
    attempt = run.last
    if attempt.owner is None and now() - attempt.created_at < _STARTING:
        return
    if run.active and attempt.queue is None and not workers.is_alive(session, attempt.owner):
        attempt.error = dict(INTERRUPTED)
        _end(session, run, attempt, "cancelled")


def interrupted(session: Session) -> list[str]:
    """Runs whose attempt a dead command line left behind."""
    return list(
        session.scalars(
            select(Attempt.run_id).where(
                Attempt.queue.is_(None), Attempt.status == "running", Attempt.owner.not_in(workers.living())
            )
        )
    )


def drift(session: Session, first: str, arrays: Arrays) -> float:
    """Largest absolute difference to an earlier result's gates (``g_*``; all floats where it has none).

    Where only one of both is NaN, or shapes differ, the difference counts as 1, a gate's whole range.
    """
    earlier = {
        name: decode(value)
        for name, value in artifacts.get_json(session, first).items()
        if isinstance(value, dict) and set(value) == {"dtype", "shape", "bdata"}
    }
    names = [name for name in arrays if name.startswith("g_")] or list(arrays)
    return max((_difference(earlier.get(name), arrays[name]) for name in names), default=0.0)


def _difference(one: np.ndarray[Any, Any] | None, other: np.ndarray[Any, Any]) -> float:
    if other.dtype.kind != "f":
        return 0.0
    if one is None or one.shape != other.shape:
        return 1.0
    if not other.size:
        return 0.0
    if (np.isnan(one) != np.isnan(other)).any():
        return 1.0
    return float(np.nanmax(np.abs(one.astype("f8") - other.astype("f8")), initial=0.0))


def _guarded(session: Session, run_id: str, number: int, owner: str, **values: Any) -> None:
    mine = _mine(run_id, number, owner)
    if session.execute(update(Attempt).where(mine).values(**values)).rowcount == 0:  # type: ignore[attr-defined]
        raise Superseded(f"{run_id}/{number}")


def _mine(run_id: str, number: int, owner: str) -> ColumnElement[bool]:
    return and_(
        Attempt.run_id == run_id,
        Attempt.number == number,
        Attempt.owner == owner,
        Attempt.status == "running",
    )


def _held(run: Run, number: int, owner: str) -> Attempt:
    attempt = _numbered(run, number)
    if attempt.owner != owner or attempt.status != "running":
        raise Superseded(f"{run.id}/{number}")
    return attempt


def _numbered(run: Run, number: int) -> Attempt:
    for attempt in run.attempts:
        if attempt.number == number:
            return attempt
    raise Superseded(f"{run.id}/{number}")


def _end(session: Session, run: Run, attempt: Attempt, status: str) -> None:
    attempt.status, attempt.finished_at, attempt.progress = status, now(), None
    attempt.wall_seconds = _seconds(attempt.started_at, attempt.finished_at)
    _mirror(run, attempt)
    session.flush()
    if status == "done":  # a failed or cancelled attempt's pieces wait for a retry
        _drop_pieces(session, run.id, attempt.number)


def _mirror(run: Run, attempt: Attempt) -> None:
    if run.result_id is None or attempt.kind != "reproduce":
        run.status = attempt.status


def _seconds(start: datetime | None, end: datetime) -> float | None:
    return None if start is None else max(0.0, (end - start).total_seconds())


def _move_pieces(session: Session, run_id: str, old: int, new: int) -> None:
    session.execute(
        update(PieceRow).where(PieceRow.run_id == run_id, PieceRow.attempt == old).values(attempt=new)
    )


def _drop_pieces(session: Session, run_id: str, number: int) -> None:
    session.execute(delete(PieceRow).where(PieceRow.run_id == run_id, PieceRow.attempt == number))
    artifacts.drop_unused(session)
