"""Runs: asked for once, computed once, kept as they are.

The id covers all that decides the answer, so the same request is the same run: one that waits,
computes or is done is returned, one that failed or was cancelled gets another attempt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete as delete_rows
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from headscope import __version__
from headscope.analyses import stored
from headscope.analyses.base import Result
from headscope.analyses.request import Request
from headscope.errors import NotFound, Refused
from headscope.store import artifacts, attempts
from headscope.store.attempts import request_cancel, unknown
from headscope.store.tables import Attempt, PieceRow, Run, now

__all__ = [
    "Submitted", "add_finished", "create_or_get", "delete", "find", "get", "get_many", "reproduce",
    "request_cancel", "result", "result_json",
]  # fmt: skip


@dataclass(frozen=True)
class Submitted:
    """A run, the number of its last attempt, and whether that attempt is new and must be queued."""

    run: Run
    attempt: int
    new: bool


def create_or_get(session: Session, request: Request, *, queue: str | None) -> Submitted:
    """The run of a request: there already, new, or with a new attempt where it failed or was cancelled.

    ``queue`` None: the calling process computes the attempt itself.
    """
    if artifacts.insert_once(session, Run, **_row(request)):
        run = attempts.lock(session, request.id)
        attempt = attempts.add(session, run, "first", queue=queue, code_version=__version__)
        return Submitted(run, attempt.number, new=True)
    run = attempts.lock(session, request.id)
    attempts.expire_interrupted(session, run)
    if run.status in ("failed", "cancelled"):
        attempt = attempts.add(session, run, "retry", queue=queue, code_version=__version__)
        return Submitted(run, attempt.number, new=True)
    return Submitted(run, run.last.number, new=False)


def reproduce(session: Session, run_id: str, *, queue: str | None) -> Submitted:
    """Another attempt at a finished run, from nothing; its drift is recorded, the run's result stays.

    One that is under way is returned. ``Refused`` (run-not-done) where there is nothing to compare with.
    """
    run = attempts.lock(session, run_id)
    attempts.expire_interrupted(session, run)
    if run.active and run.last.kind == "reproduce":
        return Submitted(run, run.last.number, new=False)
    if run.result_id is None or run.partial:
        raise Refused(
            f"Run {run_id} has no complete result to compare with: it is {run.status}.",
            "Restart it, and reproduce it once it is done.",
            code="run-not-done",
        )
    attempt = attempts.add(session, run, "reproduce", queue=queue, code_version=__version__)
    return Submitted(run, attempt.number, new=True)


def get(session: Session, run_id: str) -> Run:
    """One run with its attempts; ``NotFound`` (unknown-run) where there is none."""
    run = session.get(Run, run_id)
    if run is None:
        raise unknown(run_id)
    return run


def get_many(session: Session, run_ids: list[str]) -> list[Run]:
    """The runs of these ids that exist, in the order given."""
    rows = {run.id: run for run in session.scalars(select(Run).where(Run.id.in_(run_ids)))}
    return [rows[run_id] for run_id in run_ids if run_id in rows]


def find(
    session: Session,
    *,
    model: str | None = None,
    task: str | None = None,
    analysis: str | None = None,
    status: str | None = None,
    limit: int = 50,
    offset: int = 0,
) -> tuple[list[Run], int]:
    """Runs that fit, the newest first, a page at a time, and how many there are in all."""
    wanted = {Run.model: model, Run.task: task, Run.analysis: analysis, Run.status: status}
    fits = [column == value for column, value in wanted.items() if value is not None]
    total = session.scalar(select(func.count()).select_from(Run).where(*fits)) or 0
    page = select(Run).where(*fits).order_by(Run.created_at.desc(), Run.id).limit(limit).offset(offset)
    return list(session.scalars(page)), total


def result_json(session: Session, run_id: str) -> dict[str, Any]:
    """The result as JSON with typed arrays; ``NotFound`` (no-result) where the run isn't done."""
    run = get(session, run_id)
    if run.result_id is None:
        raise NotFound(
            f"Run {run_id} has no result: it is {run.status}.",
            "Wait until it is done." if run.active else "Restart it.",
            code="no-result",
        )
    content: dict[str, Any] = artifacts.get_json(session, run.result_id)
    return content


def result(session: Session, run_id: str) -> Result:
    """The result; ``NotFound`` (no-result) where the run isn't done."""
    return stored.read(result_json(session, run_id))


def delete(session: Session, run_id: str) -> None:
    """Delete a run with all that belongs to it. ``Refused`` (run-active) while it waits or computes."""
    run = attempts.lock(session, run_id)
    attempts.expire_interrupted(session, run)
    if run.active:
        raise Refused(f"Run {run_id} is {run.last.status}.", "Cancel it first.", code="run-active")
    for table, column in ((PieceRow, PieceRow.run_id), (Attempt, Attempt.run_id), (Run, Run.id)):
        session.execute(delete_rows(table).where(column == run_id))
    session.expunge(run)
    artifacts.drop_unused(session)


def add_finished(
    session: Session,
    request: Request,
    outcome: Result,
    headline: Mapping[str, Any],
    *,
    origin: str,
    code_version: str,
    machine: str | None,
    wall_seconds: float | None,
    finished_at: datetime,
) -> bool:
    """Add a run that was computed elsewhere, such as one of the gallery; False where the run exists."""
    row = {**_row(request), "status": "done", "origin": origin, "created_at": finished_at}
    if not artifacts.insert_once(session, Run, **row):
        return False
    name = artifacts.put_json(session, outcome.to_json())
    run = attempts.lock(session, request.id)
    run.result_id, run.headline = name, dict(headline)
    run.attempts.append(
        Attempt(
            run_id=run.id, number=1, kind="first", status="done", created_at=finished_at,
            finished_at=finished_at, wall_seconds=wall_seconds, code_version=code_version, machine=machine,
            result_id=name,
        )
    )  # fmt: skip
    session.flush()
    return True


def _row(request: Request) -> dict[str, Any]:
    return {
        "id": request.id,
        "analysis": request.analysis,
        "analysis_version": request.version,
        "title": request.title,
        "model": request.model.name,
        "model_info": request.model.to_json(),
        "attention": request.attention,
        "task": request.task,
        "task_title": request.task_title,
        "task_hash": request.task_hash,
        "preset": request.preset,
        "params": dict(request.params),
        "seeds": list(request.seeds),
        "status": "queued",
        "origin": "local",
        "created_at": now(),
    }
