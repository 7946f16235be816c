"""Surface forms: the same rows asked in another layout, or in other words.

A map of heads that is fitted to prompts of one form may be of the form and not of what is asked. ``varied``
gives a task whose rows stand in several forms, a row always in the same one; its in-context examples stand in
that form too. Splits go by prompts, so that all forms of a task hold out the same rows.

1. A word pair shown by examples has the layouts ``LAYOUTS``, its own first.
2. Its instruction form has the sentences ``SENTENCES`` about what is asked (``_ASKED``), its own first.
3. Any other task is asked in one way.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from hashlib import sha256
from typing import Any, Final

from headscope.tasks.task import Row, Task
from headscope.tasks.template import QUESTION, Template
from headscope.tasks.text import TextTask

MOST: Final = 4
"""Forms that a fit may see; the others are held out."""

OTHER_FORMS: Final = " (other forms)"
"""What the name of a task in held-out forms has more."""

LAYOUTS: Final = (
    (QUESTION, "\n\n"),
    ("{prompt} -> {target}", "\n"),
    ("Input: {prompt}, output: {target}", "\n"),
    ("Word: {prompt}\nAnswer: {target}", "\n\n"),
    ("{prompt} = {target}", "\n"),
    ("Given {prompt}, say {target}", "\n"),
)
"""Template and what stands between blocks; two or more are never fitted."""

SENTENCES: Final = (
    "The answer to {asked} is {target}",
    "Write {asked}: {target}",
    "Question: What is {asked}?\nAnswer: {target}",
    "Tell me {asked}. It is {target}",
    "Please give {asked}. Answer: {target}",
)

_ASKED: Final = {
    "singular-plural": "the plural of {prompt}",
    "present-past": "the past tense of {prompt}",
    "capitalize": "{prompt} with a capital first letter",
    "country-capital": "the capital of {prompt}",
    "antonym": "the opposite of {prompt}",
    "english-french": "the French word for {prompt}",
}
"""What the built-in word pairs ask for, by the task's name."""


@dataclass(frozen=True)
class VariedTask(TextTask):
    """Rows in several forms, each row in one that its prompt decides."""

    templates: tuple[tuple[str, str], ...] = ()

    @cached_property
    def content_hash(self) -> str:
        """Of the task, and of its forms."""
        content = [super().content_hash, [list(each) for each in self.templates]]
        return sha256(json.dumps(content).encode()).hexdigest()

    @cached_property
    def _parsed(self) -> tuple[Template, ...]:
        return tuple(Template.parse(text, separator) for text, separator in self.templates)

    def template_of(self, row: Row) -> Template:
        """The form that a row stands in."""
        number = int.from_bytes(sha256(f"form {row.prompt}".encode()).digest()[:8], "big")
        return self._parsed[number % len(self._parsed)]


def wordings(task: Task) -> Sequence[tuple[str, str]]:
    """All forms that a task can be asked in, its own first: template and separator."""
    if not isinstance(task, TextTask):
        return ()
    own = (task.template, task.separator)
    if task.form_of in _ASKED:
        asked = _ASKED[task.form_of]
        return (own, *((each.replace("{asked}", asked), task.separator) for each in SENTENCES))
    if task.shots and own == LAYOUTS[0]:
        return LAYOUTS
    return (own,)


def varied(task: Task, forms: int) -> tuple[Task, Task | None]:
    """The task in its first ``forms`` forms, and in the others; as it is, and None, where it has but one."""
    known = wordings(task)
    if forms == 1 or len(known) <= forms or not isinstance(task, TextTask):
        return task, None
    return _in_forms(task, known[:forms], ""), _in_forms(task, known[forms:], OTHER_FORMS)


def _in_forms(task: TextTask, templates: Sequence[tuple[str, str]], suffix: str) -> VariedTask:
    own: dict[str, Any] = {each.name: getattr(task, each.name) for each in fields(TextTask)}
    text, separator = templates[0]
    title = task.title + suffix
    own |= {"name": task.name + suffix, "title": title, "template": text, "separator": separator}
    return VariedTask(**own, templates=tuple(templates))
