"""Gate vectors that someone keeps: named by model, weights and content."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from headscope.core.gating.gate_vector import GateVector, known_ablation
from headscope.errors import NotFound
from headscope.store.artifacts import insert_once
from headscope.store.tables import GateVectorRow, now


class SavedGates(NamedTuple):
    """A row, and whether it is new."""

    row: GateVectorRow
    new: bool


def add(session: Session, vector: GateVector) -> SavedGates:
    """Keep gates. The same gates of the same weights are kept once, under the last name given."""
    n_layers, n_heads = vector.gates.shape
    new = insert_once(
        session,
        GateVectorRow,
        id=vector.id,
        name=vector.name,
        model=vector.model,
        revision=vector.revision,
        n_layers=n_layers,
        n_heads=n_heads,
        gates=np.ascontiguousarray(vector.gates, dtype="<f4").tobytes(),
        origin=vector.origin,
        ablation=vector.ablation,
        created_at=now(),
    )
    row = session.get_one(GateVectorRow, vector.id, populate_existing=True)
    if not new and (row.name, row.origin) != (vector.name, vector.origin):
        row.name, row.origin = vector.name, vector.origin
        session.flush()
    return SavedGates(row, new)


def get(session: Session, vector_id: str) -> GateVectorRow:
    """A kept vector's row; ``NotFound`` (unknown-gates) where there is none."""
    row = session.get(GateVectorRow, vector_id)
    if row is None:
        raise NotFound(
            f"There are no gates {vector_id!r}.",
            "`headscope gates list` shows those there are; they may have been deleted.",
            code="unknown-gates",
            remedies={
                "page": "They may have been deleted; “Saved gates” in the prompt lab has those there are.",
                "api": "GET /api/v1/gates lists those there are; they may have been deleted.",
            },
        )
    return row


def load(session: Session, vector_id: str) -> GateVector:
    """A kept vector; ``NotFound`` (unknown-gates) where there is none."""
    return vector_of(get(session, vector_id))


def vector_of(row: GateVectorRow) -> GateVector:
    """The gates in a row."""
    table = np.frombuffer(row.gates, dtype="<f4").reshape(row.n_layers, row.n_heads).astype(np.float32)
    kind = known_ablation(row.ablation)
    return GateVector(row.id, row.name, row.model, row.revision, table, row.origin, kind)


def everything(session: Session, model: str | None = None) -> list[GateVectorRow]:
    """All kept vectors, or one model's, the newest first."""
    fits = [GateVectorRow.model == model] if model is not None else []
    rows = select(GateVectorRow).where(*fits).order_by(GateVectorRow.created_at.desc(), GateVectorRow.id)
    return list(session.scalars(rows))


def remove(session: Session, vector_id: str) -> None:
    """Delete kept gates; runs that used them keep their results."""
    get(session, vector_id)
    session.execute(delete(GateVectorRow).where(GateVectorRow.id == vector_id))
