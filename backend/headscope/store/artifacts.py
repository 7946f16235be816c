"""Bytes by their SHA-256: arrays of pieces, results of runs, prompts' texts, copies behind shares.

Compressed with zlib, never pickled.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from safetensors.numpy import load, save
from sqlalchemy import delete, exists, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from headscope.errors import NotFound
from headscope.store.tables import Artifact, Attempt, Base, PieceRow, Prompt, Run, Share, now

Arrays = Mapping[str, np.ndarray[Any, Any]]


def put(session: Session, kind: str, content: bytes) -> str:
    """Keep bytes and return their SHA-256; the same bytes are kept once."""
    name = hashlib.sha256(content).hexdigest()
    insert_once(
        session, Artifact, id=name, kind=kind, content=zlib.compress(content, level=6), created_at=now()
    )
    return name


def get(session: Session, artifact_id: str) -> bytes:
    """The bytes of that name; ``NotFound`` (unknown-artifact) where there are none."""
    content = session.scalar(select(Artifact.content).where(Artifact.id == artifact_id))
    if content is None:
        raise NotFound(f"There is no artifact {artifact_id[:12]}.", "Run it again.", code="unknown-artifact")
    return zlib.decompress(content)


def put_arrays(session: Session, arrays: Arrays) -> str:
    """Keep named arrays of any shape (float, integer, bool; not complex) and return their name."""
    return put(session, "arrays", save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))


def get_arrays(session: Session, artifact_id: str) -> dict[str, np.ndarray[Any, Any]]:
    """The inverse of ``put_arrays``; NaN survives."""
    return dict(load(get(session, artifact_id)))


def put_json(session: Session, content: Any) -> str:
    """Keep plain JSON (no NaN: arrays travel as typed arrays) in canonical form."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return put(session, "json", text.encode())


def get_json(session: Session, artifact_id: str) -> Any:
    """The inverse of ``put_json``."""
    return json.loads(get(session, artifact_id))


def drop_unused(session: Session) -> None:
    """Delete what no run, attempt, piece, prompt or share refers to any more."""
    columns = (Run.result_id, Attempt.result_id, PieceRow.artifact_id, Prompt.texts_id, Share.lab_id)
    used = [exists().where(column == Artifact.id) for column in columns]
    session.execute(delete(Artifact).where(*(~use for use in used)))


def insert_once(session: Session, table: type[Base], **values: Any) -> bool:
    """Insert a row unless its key is taken; whether it was inserted. Takes SQLite's write lock either way."""
    dialect = sqlite if session.get_bind().dialect.name == "sqlite" else postgresql
    key = next(iter(table.__table__.primary_key))
    statement = dialect.insert(table).values(**values).on_conflict_do_nothing().returning(key)
    return session.execute(statement).first() is not None
