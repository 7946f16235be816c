"""The tasks of a contrastive run, checked, and their examples."""

from __future__ import annotations

from typing import TypedDict

from headscope.analyses.base import Spec
from headscope.analyses.cchg.schema import CchgParams
from headscope.errors import Invalid
from headscope.tasks.task import Split, Task
from headscope.tasks.wordings import varied


class Asked(TypedDict):
    """Keywords of ``Task.examples``."""

    limit: int | None
    seed: int
    shots: int | None


_PARAMS = ("retain", "forget", "held_out_retain", "held_out_forget")


def named(spec: Spec[CchgParams]) -> dict[str, Task]:
    """The run's tasks by name: retained, forgotten, then held out like either; then those that have other
    surface forms, in these (``tasks.wordings``), in the same order.

    Raises ``Invalid`` (same-task) for one that stands in two places, by its name or by its content: what is
    retained can't be forgotten, what is fitted isn't held out.
    """
    found: dict[str, Task] = {}
    places: dict[str, tuple[str, str]] = {}
    for param in _PARAMS:
        for task in spec.input(param, tuple) or ():
            where = places.setdefault(task.content_hash, (param, task.name))
            if task.name in found or where != (param, task.name):
                raise _twice(task.name, param, *where)
            found[task.name] = task
    both = {name: varied(task, spec.params.forms) for name, task in found.items()}
    others = [other for _, other in both.values() if other is not None]
    return {name: fitted for name, (fitted, _) in both.items()} | {other.name: other for other in others}


def asked(task: Task, split: Split, params: CchgParams) -> Asked:
    """How a task's examples are asked for; ``shots`` count for tasks that have in-context ones anyway."""
    return {
        "limit": params.n_train if split == "train" else params.n_test,
        "seed": params.split_seed,
        "shots": params.shots if task.shots else None,
    }


def _twice(name: str, param: str, other_param: str, other: str) -> Invalid:
    same = "" if other == name else f", which is the same as {other!r},"
    where = f"twice in {param}" if param == other_param else f"in {other_param} and in {param}"
    return Invalid(
        f"The task {name!r}{same} stands {where}.",
        "Name each task once: retained, forgotten, or held out.",
        code="same-task",
    )
