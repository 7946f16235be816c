"""A user's own task from a file: what would go wrong later is said now, with the line it stands on."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from headscope.errors import Invalid, Refused
from headscope.files.text import unstorable
from headscope.tasks.builtin import builtin_tasks
from headscope.tasks.forms import SUFFIX, with_forms
from headscope.tasks.rowfile import MAX_BYTES, PlacedRow, read_rows
from headscope.tasks.template import QUESTION, Template
from headscope.tasks.text import TextTask

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")


def parse_upload(
    name: str,
    filename: str,
    content: bytes,
    *,
    title: str = "",
    description: str = "",
    source: str = "",
    licence: str = "",
    template: str | None = None,
    separator: str = "\n\n",
    shots: int | None = None,
    bos: bool | None = None,
    instruction: str = "",
    taken: Collection[str] = (),
    max_bytes: int = MAX_BYTES,
) -> TextTask:
    """A task from a .jsonl, .csv or .tsv file; docs/tasks.md describes them.

    ``taken`` are the names of the user's other tasks; built-in names are always taken. With an
    ``instruction`` the task has a second form, whose name must be free too. Raises Refused for a name in use,
    TooLarge beyond the limits, Invalid for everything else that can't be a task.
    """
    check_name(name, taken)
    _check_words(
        title=title,
        description=description,
        source=source,
        licence=licence,
        template=template or "",
        instruction=instruction,
    )
    if instruction.strip():
        check_name(name + SUFFIX, taken)
    layout = Template.parse(QUESTION if template is None or not template.strip() else template, separator)
    placed = read_rows(filename, content, max_bytes=max_bytes)
    _check_white_space(placed, layout)
    task = TextTask(
        name,
        title.strip() or name,
        tuple(each.row for each in placed),
        description.strip(),
        source=source.strip() or filename,
        licence=licence.strip() or "not stated",
        template=layout.text,
        separator=separator,
        shots=(1 if len(placed) > 2 else 0) if shots is None else shots,
        bos=bos,
        judged="top",
        origin="yours",
        instruction=instruction.strip(),
    )
    task.check_shots()
    for form in with_forms(task)[1:]:
        _check_white_space(placed, Template.parse(form.template, separator))
    return task


def check_name(name: str, taken: Collection[str] = ()) -> None:
    """Raises Invalid for a name that can't be in a URL, Refused for one in use."""
    if not _NAME.fullmatch(name):
        raise Invalid(
            f"{name!r} can't name a task.",
            "Use 1 to 64 small letters, digits and hyphens, like `my-task-2`.",
            code="task-name",
        )
    if name in builtin_tasks():
        raise Refused(f"{name} is a built-in task.", "Choose another name.", code="task-exists")
    if name in taken:
        raise Refused(
            f"There is a task {name} already.",
            "Choose another name, or delete that task first.",
            code="task-exists",
            remedies={
                "command": f"Choose another with --name, or first run `headscope tasks delete {name}`."
            },
        )


def _check_words(**fields: str) -> None:
    for field, value in fields.items():
        fault = unstorable(value)
        if fault:
            raise Invalid(f"The {field} has {fault}.", "Type it again.", code="not-text")


def _check_white_space(placed: Sequence[PlacedRow], layout: Template) -> None:
    """White space that would be doubled, or carry loss by itself, is an accident nearly always."""
    for each in placed:
        row = each.row
        if layout.between.isspace() and row.prompt[-1].isspace():
            raise _white_space(each, "prompt", "ends", "the template puts white space after it")
        for field, answer in (("target", row.target), ("counterfactual", row.counterfactual)):
            if answer is None:
                continue
            if layout.spaced and answer[0].isspace():
                raise _white_space(each, field, "begins", "the template puts white space before it")
            if answer[-1].isspace():
                raise _white_space(each, field, "ends", "it would count as part of the answer")


def _white_space(each: PlacedRow, field: str, where: str, why: str) -> Invalid:
    return each.field(field).fault(
        f"the {field} {where} with white space; {why}.",
        "Remove it from the row.",
        "white-space",
    )
