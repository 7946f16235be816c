"""The tables: runs and their attempts, pieces and artifacts; workers; shares; what users added or keep.

A run is what was asked for, named by its content; an attempt is one go at computing it. Pieces are
finished parts of an attempt, artifacts the arrays behind pieces and results, named by their SHA-256.
DBOS keeps its own tables in the same database; they are none of ours.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Double,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    String,
    Text,
)
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship
from sqlalchemy.types import TypeDecorator

ACTIVE = ("queued", "running")
FINAL = ("done", "failed", "cancelled")


class UtcTime(TypeDecorator[datetime]):
    """An instant; always aware and in UTC, also where the database has no time zones (SQLite)."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Store UTC."""
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Say that it is UTC."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def now() -> datetime:
    """This instant, in UTC."""
    return datetime.now(UTC)


class Base(DeclarativeBase):
    """Names every constraint, so that a later migration can alter it on SQLite too."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map: ClassVar = {
        dict[str, Any]: JSON(none_as_null=True),
        list[Any]: JSON,
        float: Double,
        datetime: UtcTime,
    }


class Run(Base):
    """What was asked for; its id is the hash of all that decides the answer. Never changed once done."""

    __tablename__ = "runs"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    analysis: Mapped[str] = mapped_column(String(64))
    analysis_version: Mapped[int]
    title: Mapped[str] = mapped_column(Text)
    model: Mapped[str] = mapped_column(String(256))
    model_info: Mapped[dict[str, Any]]
    attention: Mapped[str] = mapped_column(String(32))
    task: Mapped[str | None] = mapped_column(String(256))
    task_title: Mapped[str | None] = mapped_column(Text)
    task_hash: Mapped[str | None] = mapped_column(String(64))
    preset: Mapped[str | None] = mapped_column(String(64))
    params: Mapped[dict[str, Any]]
    seeds: Mapped[list[Any]]
    status: Mapped[str] = mapped_column(String(16), default="queued")
    origin: Mapped[str] = mapped_column(String(16), default="local")
    headline: Mapped[dict[str, Any] | None]
    result_id: Mapped[str | None] = mapped_column(ForeignKey("artifacts.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)

    attempts: Mapped[list[Attempt]] = relationship(
        back_populates="run", lazy="selectin", order_by="Attempt.number", cascade="all, delete-orphan"
    )

    __table_args__ = (
        Index("ix_runs_created_at", "created_at"),
        Index("ix_runs_model_task", "model", "task"),
        Index("ix_runs_status", "status"),
    )

    @property
    def last(self) -> Attempt:
        """The attempt that is under way, or the last one there was."""
        return self.attempts[-1]

    @property
    def whole(self) -> bool:
        """Whether its result is what was asked for, which never changes again."""
        return self.status == "done"

    @property
    def partial(self) -> bool:
        """Whether it was stopped before its end, and has a result of what was whole by then."""
        return self.result_id is not None and not self.whole

    @property
    def told(self) -> Attempt:
        """The attempt whose times and machine are the run's: the first finished one, else the last."""
        return next((attempt for attempt in self.attempts if attempt.status == "done"), self.last)

    @property
    def active(self) -> bool:
        """Whether something is queued or computing: for a finished run, a Reproduce."""
        return self.last.status in ACTIVE

    @property
    def progress(self) -> dict[str, Any] | None:
        """How far the attempt under way is."""
        return self.last.progress if self.active else None

    @property
    def error(self) -> dict[str, Any] | None:
        """The problem that ended a failed or interrupted run."""
        return None if self.status == "done" else self.last.error

    @property
    def queue(self) -> str | None:
        """Where the attempt under way waits; None where no worker is needed."""
        return self.last.queue

    @property
    def code_version(self) -> str:
        """The version of Headscope that computed it."""
        return self.told.code_version

    @property
    def machine(self) -> str | None:
        """What it was computed on."""
        return self.told.machine

    @property
    def started_at(self) -> datetime | None:
        """When computing began."""
        return self.told.started_at

    @property
    def finished_at(self) -> datetime | None:
        """When it ended, in whatever way."""
        return self.told.finished_at

    @property
    def wall_seconds(self) -> float | None:
        """From start to end, waiting for a worker's return after a crash included."""
        return self.told.wall_seconds


class Attempt(Base):
    """One go at a run, by one owner at a time: a worker or a command line."""

    __tablename__ = "attempts"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    status: Mapped[str] = mapped_column(String(16), default="queued")
    kind: Mapped[str] = mapped_column(String(16), default="first")
    """``first``, ``retry`` (takes over the pieces of the one before), ``reproduce`` (starts from nothing)."""
    queue: Mapped[str | None] = mapped_column(String(64))
    """Where it waits; None: computed by the process that asked (command line, gallery)."""
    owner: Mapped[str | None] = mapped_column(String(128))
    progress: Mapped[dict[str, Any] | None]
    error: Mapped[dict[str, Any] | None]
    cancel_requested_at: Mapped[datetime | None]
    created_at: Mapped[datetime] = mapped_column(default=now)
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    wall_seconds: Mapped[float | None]
    code_version: Mapped[str] = mapped_column(String(64), default="")
    machine: Mapped[str | None] = mapped_column(Text)
    drift: Mapped[float | None]
    result_id: Mapped[str | None] = mapped_column(ForeignKey("artifacts.id"))

    run: Mapped[Run] = relationship(back_populates="attempts")

    __table_args__ = (Index("ix_attempts_status", "status"),)


class PieceRow(Base):
    """A finished piece of an attempt; dropped when the attempt is done."""

    __tablename__ = "pieces"

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
    attempt: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(256), primary_key=True)
    artifact_id: Mapped[str] = mapped_column(ForeignKey("artifacts.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)


class Artifact(Base):
    """Bytes named by the SHA-256 of their content before compression (zlib)."""

    __tablename__ = "artifacts"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    kind: Mapped[str] = mapped_column(String(32))
    content: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(default=now)


class Worker(Base):
    """A process that computes. ``heartbeat`` is seconds since 1970 by the database's own clock."""

    __tablename__ = "workers"

    id: Mapped[str] = mapped_column(String(128), primary_key=True)
    kind: Mapped[str] = mapped_column(String(16), default="worker")
    """``worker``, or ``foreground`` for a command line that computes by itself."""
    host: Mapped[str] = mapped_column(String(256))
    device: Mapped[str] = mapped_column(String(64))
    memory_bytes: Mapped[int | None] = mapped_column(BigInteger)
    queue: Mapped[str] = mapped_column(String(64))
    address: Mapped[str | None] = mapped_column(String(256))
    secret: Mapped[str | None] = mapped_column(String(64))
    models: Mapped[list[Any]]
    heartbeat: Mapped[float]
    patience: Mapped[float] = mapped_column(default=10.0)
    """Seconds without a heartbeat after which it counts as dead."""
    started_at: Mapped[datetime] = mapped_column(default=now)


class Share(Base):
    """A link: an unguessable token for runs and a view of them, or for a copy of what the lab showed."""

    __tablename__ = "shares"

    token: Mapped[str] = mapped_column(String(64), primary_key=True)
    run_ids: Mapped[list[Any]]
    view: Mapped[dict[str, Any]]
    path: Mapped[str] = mapped_column(Text, default="")
    visibility: Mapped[str] = mapped_column(String(16), default="unlisted")
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    lab_id: Mapped[str | None] = mapped_column(ForeignKey("artifacts.id"))
    """The copy; gone once the share is revoked."""


class Prompt(Base):
    """A prompt or a batch of them; its id is the hash of its texts."""

    __tablename__ = "prompts"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str] = mapped_column(String(256), default="")
    kind: Mapped[str] = mapped_column(String(16))
    """``text`` for one prompt, ``batch`` for several."""
    n: Mapped[int]
    characters: Mapped[int] = mapped_column(BigInteger)
    beginning: Mapped[str] = mapped_column(Text)
    texts_id: Mapped[str] = mapped_column(ForeignKey("artifacts.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (Index("ix_prompts_created_at", "created_at"),)


class GateVectorRow(Base):
    """Gates of one model's heads; the id is the hash of model, weights and gates."""

    __tablename__ = "gate_vectors"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str] = mapped_column(String(256))
    model: Mapped[str] = mapped_column(String(256))
    revision: Mapped[str] = mapped_column(String(64))
    n_layers: Mapped[int]
    n_heads: Mapped[int]
    gates: Mapped[bytes] = mapped_column(LargeBinary)
    """[layer, head] float32, little-endian."""
    origin: Mapped[str] = mapped_column(Text)
    ablation: Mapped[str] = mapped_column(String(32), server_default="zero")
    """What closed heads gave when they were fitted."""
    created_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (Index("ix_gate_vectors_model", "model"),)


class UserTask(Base):
    """A task that someone added, as ``tasks`` writes it."""

    __tablename__ = "tasks"

    name: Mapped[str] = mapped_column(String(256), primary_key=True)
    content: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(default=now)


class Evaluation(Base):
    """How a model does on a task without gates; the key covers revision and task content."""

    __tablename__ = "evaluations"

    model: Mapped[str] = mapped_column(String(256), primary_key=True)
    revision: Mapped[str] = mapped_column(String(64), primary_key=True)
    task: Mapped[str] = mapped_column(String(256), primary_key=True)
    task_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    content: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(default=now)


class Mark(Base):
    """Something done once and for all, such as the gallery's import: a name and what was done."""

    __tablename__ = "marks"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    value: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(default=now)
