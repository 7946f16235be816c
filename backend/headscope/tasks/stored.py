"""Users' tasks as JSON, for the store and for exports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from headscope.errors import Invalid
from headscope.tasks.task import Judged, Row
from headscope.tasks.text import TextTask


class StoredTask(BaseModel):
    """What is kept of a text task. ``rows`` are [prompt, target, counterfactual or null], and their paired
    prompt where they have one.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    schema_version: Literal[1] = 1
    kind: Literal["text"] = "text"
    name: str
    title: str
    description: str
    source: str
    licence: str
    template: str
    separator: str
    shots: int
    bos: bool | None
    targets: str
    judged: Judged
    origin: Literal["built-in", "yours"]
    instruction: str = ""
    form_of: str = ""
    rows: list[list[str | None]]


def to_json(task: TextTask) -> dict[str, Any]:
    """Plain JSON values that ``from_json`` reads back to an equal task."""
    content = {field.name: getattr(task, field.name) for field in fields(task)}
    content["rows"] = [
        [row.prompt, row.target, row.counterfactual, *([] if row.paired is None else [row.paired])]
        for row in task.rows
    ]
    return StoredTask(**content).model_dump()


def from_json(content: Mapping[str, Any]) -> TextTask:
    """The task. Raises Invalid (code ``stored-task``) where the content isn't one of this version's."""
    try:
        stored = StoredTask.model_validate(dict(content))
        rows = tuple(_row(values) for values in stored.rows)
    except (ValidationError, ValueError) as error:
        name = content.get("name", "without a name")
        raise Invalid(
            f"The stored task {name} can't be read: {error}.",
            "It may be from a later version of Headscope; upload the task again.",
            code="stored-task",
        ) from error
    kept = stored.model_dump(exclude={"schema_version", "kind", "rows"})
    return TextTask(rows=rows, **kept)


def _row(values: list[str | None]) -> Row:
    prompt, target, counterfactual, paired = (*values, None) if len(values) == 3 else values
    if prompt is None or target is None:
        raise ValueError("a row lacks its prompt or its target")
    return Row(prompt, target, counterfactual, paired)
