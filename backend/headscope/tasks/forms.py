"""The two forms of a task that has an instruction: by examples in context, and by the instruction alone.

Both have the same rows in the same splits, since a split goes by the rows' prompts: what is held out in one
form is held out in the other. An instruction is a sentence to stand above the task's template, or a template
of its own, which has the row's prompt within it.
"""

from __future__ import annotations

from dataclasses import replace

from headscope.tasks.task import Task
from headscope.tasks.template import Template
from headscope.tasks.text import TextTask

SUFFIX = "-instruction"
"""What the instruction form's name has more."""


def instruction_form(task: TextTask) -> TextTask:
    """The task asked by its instruction, in words, without examples in context.

    Raises ``Invalid`` (template) for an instruction that is a template and can't be used.
    """
    whole = any(field in task.instruction for field in ("{prompt}", "{target}"))
    template = task.instruction if whole else f"{task.instruction}\n{task.template}"
    return replace(
        task,
        name=task.name + SUFFIX,
        title=f"{task.title}, by instruction",
        description=f"{task.description} Asked in words, without examples.".lstrip(),
        template=Template.parse(template, task.separator).text,
        shots=0,
        instruction="",
        form_of=task.name,
    )


def with_forms(task: TextTask) -> list[TextTask]:
    """The task, and its instruction form where it has one."""
    return [task, instruction_form(task)] if task.instruction else [task]


def form_of(task: Task) -> str:
    """The name of the task that this one is the instruction form of; empty where it is none."""
    return str(getattr(task, "form_of", ""))
