"""Tasks that users added: a name and what ``tasks`` makes of the upload, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from headscope.errors import NotFound, Refused
from headscope.store.artifacts import insert_once
from headscope.store.tables import UserTask, now


def load_user_tasks(session: Session) -> list[dict[str, Any]]:
    """The stored JSON of each user task, in order of name: what ``TaskCatalogue`` takes."""
    return list(session.scalars(select(UserTask.content).order_by(UserTask.name)))


def add(session: Session, name: str, content: Mapping[str, Any]) -> None:
    """Keep a task; ``Refused`` (task-exists) where one of that name is kept already."""
    if not insert_once(session, UserTask, name=name, content=dict(content), created_at=now()):
        raise Refused(
            f"There is already a task {name!r}.",
            "Choose another name, or delete that one first.",
            code="task-exists",
        )


def remove(session: Session, name: str) -> None:
    """Forget a user task; the runs that used it stay. ``NotFound`` (unknown-task) where there is none."""
    if session.execute(delete(UserTask).where(UserTask.name == name)).rowcount == 0:  # type: ignore[attr-defined]
        raise NotFound(
            f"There is no task of yours called {name!r}.",
            "Only tasks that were added can be deleted.",
            code="unknown-task",
        )
