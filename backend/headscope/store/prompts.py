"""Prompts that someone keeps: each text once, named by its content, deleted for good."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from headscope.errors import NotFound
from headscope.store import artifacts
from headscope.store.artifacts import insert_once
from headscope.store.tables import Prompt, now
from headscope.tasks.prompts import PromptSet, beginning


class SavedPrompts(NamedTuple):
    """A row, and whether it is new."""

    row: Prompt
    new: bool


def add(session: Session, prompts: PromptSet) -> SavedPrompts:
    """Keep a prompt or batch. One that is there already stays, under its new name where one is given."""
    texts = list(prompts.texts)
    new = insert_once(
        session,
        Prompt,
        id=prompts.id,
        name=prompts.name,
        kind="text" if len(texts) == 1 else "batch",
        n=len(texts),
        characters=sum(map(len, texts)),
        beginning=beginning(texts[0]),
        texts_id=artifacts.put_json(session, texts),
        created_at=now(),
    )
    row = session.get_one(Prompt, prompts.id, populate_existing=True)
    if prompts.name and row.name != prompts.name:
        row.name = prompts.name
        session.flush()
    return SavedPrompts(row, new)


def get(session: Session, prompt_id: str) -> Prompt:
    """A kept prompt without its texts; ``NotFound`` (unknown-prompt) where there is none."""
    row = session.get(Prompt, prompt_id)
    if row is None:
        raise NotFound(
            f"There is no prompt {prompt_id!r}.",
            "`headscope prompts list` shows those there are; it may have been deleted.",
            code="unknown-prompt",
            remedies={
                "page": "It may have been deleted; “Saved prompts” in the prompt lab has those there are.",
                "api": "GET /api/v1/prompts lists those there are; it may have been deleted.",
            },
        )
    return row


def load(session: Session, prompt_id: str) -> PromptSet:
    """A kept prompt with its texts; ``NotFound`` (unknown-prompt) where there is none."""
    row = get(session, prompt_id)
    return PromptSet(row.id, row.name, tuple(artifacts.get_json(session, row.texts_id)))


def everything(session: Session) -> list[Prompt]:
    """All kept prompts, the newest first."""
    return list(session.scalars(select(Prompt).order_by(Prompt.created_at.desc(), Prompt.id)))


def remove(session: Session, prompt_id: str) -> None:
    """Delete a prompt with its texts; runs and shares that used it keep what they hold."""
    get(session, prompt_id)
    session.execute(delete(Prompt).where(Prompt.id == prompt_id))
    artifacts.drop_unused(session)
