"""What closed heads give on a prompt: taken from rows of a task that the reader names, and kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from headscope.core.model.head_model import HeadModel
from headscope.errors import Invalid
from headscope.messages.lab import Closing
from headscope.tasks.task import Task

if TYPE_CHECKING:
    from headscope.core.model.replacement import Replacement

ROWS: Final = 64
"""Training rows of the task: a second's work on a small model, once."""

Inside = Callable[[HeadModel, Closing], "Replacement | None"]
"""Gives what closed heads give; asked by whoever holds the device."""

Key = tuple[str, str, str, str]


@dataclass
class References:
    """The newest replacements; only whoever holds the device may use it. ``task`` finds a task by name."""

    task: Callable[[str], Task]
    most: int = 8
    _kept: OrderedDict[Key, Replacement] = field(default_factory=OrderedDict)

    def __call__(self, model: HeadModel, wanted: Closing) -> Replacement | None:
        """None for zero. Raises ``Invalid`` (no-reference), ``NotFound`` (unknown-task)."""
        if wanted.ablation == "zero":
            return None
        if wanted.reference is None:
            raise Invalid(
                f"{wanted.ablation.capitalize()} ablation needs rows to take closed heads' output from.",
                "Name a task as the reference.",
                code="no-reference",
            )
        task = self.task(wanted.reference)
        key = (model.info.name, model.info.revision, task.content_hash, wanted.ablation)
        if key not in self._kept:
            self._kept[key] = _taken(model, task, wanted)
            if len(self._kept) > self.most:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]


def nothing(model: HeadModel, wanted: Closing) -> None:
    """Zero: a closed head gives nothing."""


def _taken(model: HeadModel, task: Task, wanted: Closing) -> Replacement:
    from headscope.core.gating.text_replacements import of_text

    rows = task.examples(model.tokenizer, "train", limit=ROWS, n_ctx=model.info.n_ctx)
    found = of_text(model, wanted.ablation, [row.tokens[: max(row.targets)] for row in rows])
    assert found is not None  # noqa: S101 - zero was answered before
    return found
