"""Who computes, and who is still there: heartbeats by the database's clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, ScalarSelect, delete, select, update
from sqlalchemy.orm import Session

from headscope.store.clock import database_clock
from headscope.store.tables import ACTIVE, Attempt, Worker, now

_FORGOTTEN_AFTER = 3600.0


@dataclass(frozen=True)
class WorkerView:
    """A worker as others see it. ``address`` and ``secret`` reach its interactive endpoint."""

    id: str
    kind: str
    host: str
    device: str
    memory_bytes: int | None
    queue: str
    address: str | None
    secret: str | None
    models: tuple[str, ...]
    alive: bool
    seconds_since_heartbeat: float


def register(
    session: Session,
    worker_id: str,
    *,
    host: str,
    device: str,
    queue: str,
    kind: str = "worker",
    memory_bytes: int | None = None,
    address: str | None = None,
    secret: str | None = None,
    patience: float = 10.0,
) -> None:
    """Put a worker on the list, alive from now; one of the same id is replaced."""
    session.execute(delete(Worker).where(Worker.id == worker_id))
    session.add(
        Worker(
            id=worker_id, kind=kind, host=host, device=device, memory_bytes=memory_bytes, queue=queue,
            address=address, secret=secret, models=[], heartbeat=0.0, patience=patience, started_at=now(),
        )
    )  # fmt: skip
    session.flush()
    beat(session, worker_id)


def beat(session: Session, worker_id: str, models: Sequence[str] | None = None) -> bool:
    """A sign of life, with the models it holds; False where the worker is no longer on the list."""
    values: dict[str, object] = {"heartbeat": database_clock()}
    if models is not None:
        values["models"] = list(models)
    done = session.execute(update(Worker).where(Worker.id == worker_id).values(values))
    return bool(done.rowcount == 1)  # type: ignore[attr-defined]


def retire(session: Session, worker_id: str) -> None:
    """A worker that ends in order: dead from now, so that others take its run over at once."""
    session.execute(update(Worker).where(Worker.id == worker_id).values(heartbeat=0.0))


def everyone(session: Session) -> list[WorkerView]:
    """All workers on the list, the youngest heartbeat first; command lines that compute are none."""
    return [view for view in _views(session) if view.kind == "worker"]


def alive(session: Session) -> list[WorkerView]:
    """The workers whose heartbeat is fresh."""
    return [view for view in everyone(session) if view.alive]


def dead(session: Session) -> list[WorkerView]:
    """Workers and command lines whose heartbeat stopped."""
    return [view for view in _views(session) if not view.alive]


def is_alive(session: Session, worker_id: str | None) -> bool:
    """Whether that worker's (or command line's) heartbeat is fresh."""
    fresh = select(Worker.id).where(Worker.id == worker_id, _fresh())
    return session.scalar(fresh) is not None


def living() -> ScalarSelect[str]:
    """Ids of all that is alive, as a subquery."""
    return select(Worker.id).where(_fresh()).scalar_subquery()


def forget_old(session: Session) -> None:
    """Drop workers that have been gone for an hour and own nothing that is under way."""
    busy = select(Attempt.owner).where(Attempt.status.in_(ACTIVE), Attempt.owner.is_not(None))
    old = Worker.heartbeat < database_clock() - _FORGOTTEN_AFTER
    session.execute(delete(Worker).where(old, Worker.id.not_in(busy)))


def _fresh() -> ColumnElement[bool]:
    return Worker.heartbeat + Worker.patience > database_clock()


def _views(session: Session) -> list[WorkerView]:
    rows = session.execute(
        select(Worker, (database_clock() - Worker.heartbeat).label("age")).order_by(Worker.heartbeat.desc())
    )
    return [
        WorkerView(
            id=row.id, kind=row.kind, host=row.host, device=row.device, memory_bytes=row.memory_bytes,
            queue=row.queue, address=row.address, secret=row.secret, models=tuple(row.models),
            alive=age < row.patience, seconds_since_heartbeat=max(0.0, float(age)),
        )
        for row, age in rows
    ]  # fmt: skip
