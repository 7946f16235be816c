"""Parameters of the sufficiency curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from pydantic import Field

from headscope.analyses.base import Input, Params, Result
from headscope.core.roles import finished
from headscope.errors import Invalid
from headscope.tasks.task import Task


class SufficiencyParams(Params):
    """Which gating run gives the order, how finely the curve is drawn, how much must be kept."""

    run: str | None = Field(
        default=None,
        max_length=64,
        title="Causal head gating run",
        description="The id of a finished run of the same model and task; its facilitation orders the heads.",
        json_schema_extra={"needed": True},
    )
    keep: float = Field(
        default=0.95,
        gt=0,
        le=1,
        allow_inf_nan=False,
        title="Share to keep",
        description="Of the log-probability that the model gains over itself with all heads closed.",
    )
    points: int = Field(
        default=24,
        ge=2,
        le=200,
        title="Points of the curve",
        description="Numbers of open heads that are tried; where enough is kept is then narrowed down.",
    )
    orders: int = Field(
        default=3,
        ge=1,
        le=32,
        title="Random orders",
        description="To compare with; each has a seed of its own.",
    )
    first_seed: int = Field(
        default=0,
        ge=0,
        le=2**31 - 1,
        title="First seed",
        description="Seeds of random orders count up from here.",
    )
    n_test: int = Field(
        default=64,
        ge=1,
        le=1_000_000,
        title="Held-out examples, at most",
        description="Rows that the gating run never fitted.",
    )
    dtype: Literal["float32", "bfloat16", "float64"] = Field(
        default="float32", title="Precision", description="Of the model."
    )


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "quick": {"points": 12, "orders": 2, "n_test": 32},
    "full": {"points": 24, "orders": 5, "n_test": 256},
}


def gating_run(inputs: Mapping[str, Input] | None, task: Task | None) -> Result:
    """The run that gives the order.

    Raises ``Invalid``: run-missing without it; not-gating where it is of another analysis; other-task where
    it is of another task than ``task``; nothing-fitted where all its seeds failed.
    """
    run = (inputs or {}).get("run")
    if not isinstance(run, Result):
        raise Invalid(
            "A sufficiency curve needs a finished causal head gating run.",
            "Name one of the same model and task: `headscope runs list` shows them.",
            code="run-missing",
        )
    if run.analysis != "chg":
        raise Invalid(
            f"The run named is of the analysis {run.analysis!r}; heads are ordered by causal head gating.",
            "Name a run of chg.",
            code="not-gating",
        )
    theirs = dict(run.task or {})
    if task is not None and theirs.get("content_hash") != task.content_hash:
        raise Invalid(
            f"The run named is of the task {theirs.get('name')!r}, not of {task.name!r} as it is here.",
            "Name a run of the same task.",
            code="other-task",
        )
    if not finished(run.arrays["g_plus"], run.arrays["g_minus"]).any():
        raise Invalid("No seed of the run named has a fit.", "Name another run.", code="nothing-fitted")
    return run


def facilitation(run: Result) -> np.ndarray:
    """[layer, head] in [0, 1]: mean of G- over the seeds that have a fit."""
    ran = finished(run.arrays["g_plus"], run.arrays["g_minus"])
    return np.asarray(run.arrays["g_minus"][ran].astype(np.float64).mean(axis=0))


def grid(points: int, heads: int) -> list[int]:
    """Numbers of open heads that are tried, from 0 to all: close together where few are open.

    Even steps in the square root, so that a curve that rises early is seen to.
    """
    steps = np.round(np.linspace(0, np.sqrt(heads), min(points, heads + 1)) ** 2).astype(int)
    return sorted({0, heads, *steps.tolist()})
