"""All tasks by name: the built-in ones, then the user's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from headscope.errors import Invalid, NotFound
from headscope.tasks.builtin import builtin_tasks
from headscope.tasks.forms import with_forms
from headscope.tasks.stored import from_json
from headscope.tasks.task import Task
from headscope.tasks.text import TextTask


class TaskCatalogue:
    """Built-in tasks and the user's, these given as tasks or as the JSON that the store keeps.

    A stored task that can't be read (a later version's) hides no other: it is left out of ``all``, and
    ``get`` says what is wrong with it. Built-in tasks win over a user's of the same name. A task with an
    instruction is followed by its instruction form.
    """

    def __init__(self, user_tasks: Iterable[Task | Mapping[str, Any]] = ()) -> None:
        self._tasks: dict[str, Task] = dict(builtin_tasks())
        self._unreadable: dict[str, Invalid] = {}
        for given in user_tasks:
            try:
                task = from_json(given) if isinstance(given, Mapping) else given
            except Invalid as error:
                self._unreadable[str(given.get("name", ""))] = error  # type: ignore[union-attr]
                continue
            for form in with_forms(task) if isinstance(task, TextTask) else [task]:
                self._tasks.setdefault(form.name, form)

    def all(self) -> list[Task]:
        """Every task, built-in ones first."""
        return list(self._tasks.values())

    def get(self, name: str) -> Task:
        """Raises NotFound (code ``unknown-task``) that names similar tasks; Invalid for an unreadable one."""
        if name in self._tasks:
            return self._tasks[name]
        if name in self._unreadable:
            raise self._unreadable[name]
        close = get_close_matches(name, self._tasks)
        hint = f"Did you mean {' or '.join(close)}?" if close else f"There are {', '.join(self._tasks)}."
        raise NotFound(f"There is no task {name!r}.", hint, code="unknown-task")
