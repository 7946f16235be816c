"""All tasks by name: the built-in ones, then the user's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from headscope.errors import NotFound
from headscope.tasks.builtin import builtin_tasks
from headscope.tasks.stored import from_json
from headscope.tasks.task import Task


class TaskCatalogue:
    """Built-in tasks and the user's, these given as tasks or as the JSON that the store keeps."""

    def __init__(self, user_tasks: Iterable[Task | Mapping[str, Any]] = ()) -> None:
        own = (from_json(task) if isinstance(task, Mapping) else task for task in user_tasks)
        # A built-in task wins over a user's of the same name, which an earlier version may have allowed.
        self._tasks: dict[str, Task] = dict(builtin_tasks())
        for task in own:
            self._tasks.setdefault(task.name, task)

    def all(self) -> list[Task]:
        """Every task, built-in ones first."""
        return list(self._tasks.values())

    def get(self, name: str) -> Task:
        """Raises NotFound (code ``unknown-task``) that names similar tasks, or all."""
        try:
            return self._tasks[name]
        except KeyError:
            close = get_close_matches(name, self._tasks)
            hint = f"Did you mean {' or '.join(close)}?" if close else f"There are {', '.join(self._tasks)}."
            raise NotFound(f"There is no task {name!r}.", hint, code="unknown-task") from None
