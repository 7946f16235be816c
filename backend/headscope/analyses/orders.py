"""What analyses share that take heads in an order which a run of causal head gating gives."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from headscope.analyses.base import Input, Result
from headscope.core.gating.roles import finished
from headscope.errors import Invalid
from headscope.tasks.task import Task


def gating_run(inputs: Mapping[str, Input] | None, param: str, task: Task | None, asking: str) -> Result:
    """The run that a parameter names; ``asking`` is what needs it, in words.

    Raises ``Invalid``: run-missing without it; not-gating where it is of another analysis; other-task where
    it is of another task than ``task``; nothing-fitted where all its seeds failed.
    """
    run = (inputs or {}).get(param)
    if not isinstance(run, Result):
        raise Invalid(
            f"{asking} needs a finished causal head gating run.",
            "Name one of the same model and task: `headscope runs list` shows them.",
            code="run-missing",
        )
    if run.analysis != "chg":
        raise Invalid(
            f"The run named is of the analysis {run.analysis!r}, not of causal head gating.",
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
    if not fitted(run).any():
        raise Invalid("No seed of the run named has a fit.", "Name another run.", code="nothing-fitted")
    return run


def fitted(run: Result) -> NDArray[np.bool_]:
    """Which seeds of a gating run have a fit [seed]."""
    return finished(run.arrays["g_plus"], run.arrays["g_minus"])


def facilitation(run: Result) -> Float[np.ndarray, "layer head"]:
    """In [0, 1]: mean of G- over the seeds that have a fit."""
    return np.asarray(run.arrays["g_minus"][fitted(run)].astype(np.float64).mean(axis=0))
