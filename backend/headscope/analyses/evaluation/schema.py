"""Parameters of an evaluation of gates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from headscope.analyses.base import Input, Params, TaskNames
from headscope.analyses.parameters import Precision, ShotsOfEach, SplitSeed
from headscope.core.gating.gate_vector import GateVector
from headscope.errors import Invalid
from headscope.tasks.task import Task


class EvaluationParams(Params):
    """Which gates, on which tasks, by how many examples."""

    gates: str | None = Field(
        default=None,
        max_length=64,
        title="Gates",
        description="The id of kept gates of this model.",
        json_schema_extra={"needed": True},
    )
    tasks: TaskNames = Field(
        default=(),
        max_length=32,
        title="Tasks",
        description="Each is scored without and with the gates.",
        json_schema_extra={"needed": True},
    )
    n_test: int = Field(
        default=256,
        ge=1,
        le=1_000_000,
        title="Held-out examples, at most",
        description="Of each task.",
    )
    shots: ShotsOfEach = None
    split_seed: SplitSeed = 0
    dtype: Precision = "float32"


PRESETS: Mapping[str, Mapping[str, Any]] = {"quick": {"n_test": 64}, "full": {"n_test": 1024}}


def given(inputs: Mapping[str, Input] | None) -> tuple[GateVector, tuple[Task, ...]]:
    """The gates and the tasks; ``Invalid`` (gates-missing, task-missing, same-task)."""
    gates, tasks = (inputs or {}).get("gates"), (inputs or {}).get("tasks", ())
    if not isinstance(gates, GateVector):
        raise Invalid(
            "There are no gates to evaluate.",
            "Name some: `headscope gates list` shows those that are kept.",
            code="gates-missing",
        )
    if not isinstance(tasks, tuple) or not tasks:
        raise Invalid(
            "There is no task to evaluate the gates on.",
            "Name one or more: `headscope tasks list` shows them.",
            code="task-missing",
        )
    names = [task.name for task in tasks]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise Invalid(f"The task {twice!r} is named twice.", "Name each task once.", code="same-task")
    return gates, tasks
