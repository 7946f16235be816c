"""The tasks of a contrastive run, checked, and their examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypedDict

from headscope.analyses.base import Input, Result
from headscope.analyses.cchg.schema import CchgParams
from headscope.errors import Invalid
from headscope.tasks.task import Split, Task


class Asked(TypedDict):
    """Keywords of ``Task.examples``."""

    limit: int | None
    seed: int
    shots: int | None


_PARAMS = ("retain", "forget", "held_out_retain", "held_out_forget")


def named(inputs: Mapping[str, Input] | None) -> dict[str, Task]:
    """The run's tasks by name.

    Raises ``Invalid``: task-missing without tasks to retain or to forget; same-task for one that stands in
    two places, by its name or by its content: what is retained can't be forgotten, what is fitted isn't held
    out.
    """
    found: dict[str, Task] = {}
    places: dict[str, tuple[str, str]] = {}
    for param in _PARAMS:
        tasks = (inputs or {}).get(param, ())
        if not isinstance(tasks, tuple) or (not tasks and param in ("retain", "forget")):
            raise Invalid(
                f"Contrastive gating needs a task to {param}.",
                f"Name one: --param {param}=singular-plural; `headscope tasks list` shows them.",
                code="task-missing",
            )
        for task in tasks:
            where = places.setdefault(task.content_hash, (param, task.name))
            if task.name in found or where != (param, task.name):
                raise _twice(task.name, param, *where)
            found[task.name] = task
    return found


def gating_run(inputs: Mapping[str, Input] | None) -> Result | None:
    """The plain gating run to show beside; ``Invalid`` (not-gating) for one of another analysis."""
    run = (inputs or {}).get("gating")
    if not isinstance(run, Result):
        return None
    if run.analysis != "chg":
        raise Invalid(
            f"gating: that run is of the analysis {run.analysis!r}.",
            "Name a run of chg, or none.",
            code="not-gating",
        )
    return run


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
