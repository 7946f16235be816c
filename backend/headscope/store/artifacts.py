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

Kept = Mapping[str, Any]
"""What a piece answers: arrays, and plain JSON values."""

_WORDS = "values as JSON"
_LINES: frozenset[str] = frozenset({"limits", "readers", "writers"})
_JSON: frozenset[str] = frozenset({"about", "names", "told", "words"})
_TEXT: frozenset[str] = frozenset({"gated_task"})


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


def put_piece(session: Session, kept: Kept) -> str:
    """Keep named arrays (float, integer, bool; not complex) and plain JSON values, and return their name."""
    # Not ascontiguousarray, which makes one number a row of one.
    tensors = {
        name: np.asarray(each, order="C") for name, each in kept.items() if isinstance(each, np.ndarray)
    }
    words = {name: each for name, each in kept.items() if name not in tensors}
    if words:
        tensors[_WORDS] = np.frombuffer(_canonical(words), np.uint8)
    return put(session, "arrays", save(tensors))


def get_piece(session: Session, artifact_id: str) -> dict[str, Any]:
    """The inverse of ``put_piece``; NaN survives in arrays."""
    tensors: dict[str, Any] = dict(load(get(session, artifact_id)))
    words = tensors.pop(_WORDS, None)
    if words is not None:
        return {**tensors, **json.loads(words.tobytes())}
    return {name: _of_bytes(name, each) for name, each in tensors.items()}


def put_json(session: Session, content: Any) -> str:
    """Keep plain JSON (no NaN: arrays travel as typed arrays) in canonical form."""
    return put(session, "json", _canonical(content))


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


def _canonical(content: Any) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _of_bytes(name: str, array: np.ndarray[Any, Any]) -> Any:
    """A value of a piece from before pieces had any but arrays: words stood in it as bytes.

    A stopped run then resumes with them.
    """
    if array.dtype != np.uint8 or array.ndim != 1 or name not in _LINES | _JSON | _TEXT:
        return array
    text = array.tobytes().decode()
    if name in _TEXT:
        return text
    # A probe's ``names`` were lines, those of skip trigrams JSON.
    return json.loads(text) if name in _JSON and text.startswith(("[", "{")) else text.splitlines()
