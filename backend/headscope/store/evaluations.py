"""How models do on tasks without gates: computed once per weights and task content, then kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from headscope.store.tables import Evaluation


def get(session: Session, model: str, revision: str, task: str, task_hash: str) -> dict[str, Any] | None:
    """The kept evaluation, or None where nothing fits this very model and task."""
    row = session.get(Evaluation, (model, revision, task, task_hash))
    return None if row is None else row.content


def put(
    session: Session, model: str, revision: str, task: str, task_hash: str, content: Mapping[str, Any]
) -> None:
    """Keep an evaluation, in place of an earlier one."""
    session.merge(
        Evaluation(model=model, revision=revision, task=task, task_hash=task_hash, content=dict(content))
    )
