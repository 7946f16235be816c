"""The run that seeds are added to: whether it can be, and its arrays as a piece of the run that adds.

``seeds`` counts all seeds, those taken over and those to be fitted, so that the result is what a run of so
many seeds from nothing would give.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.base import Arrays, Input, Result
from headscope.analyses.chg.schema import ChgParams
from headscope.analyses.orders import gating_run
from headscope.errors import Invalid
from headscope.tasks.task import Task

VERSION: Final = 2
"""Of the analysis: goes up when its arrays or their meaning change. Fits of two versions are never joined."""

_MAY_DIFFER = ("seeds", "adds_to")
_SECOND_AXIS = ("heldout_", "rounded_")
"""Beginnings of the names of arrays [condition, seed]; all others are [seed, ...]."""


def taken_over(
    params: ChgParams, inputs: Mapping[str, Input] | None, task: Task | None = None
) -> Result | None:
    """The run whose seeds are taken over; None where none is named.

    Raises ``Invalid``: what ``orders.gating_run`` does; other-version; other-settings, naming what differs;
    no-more-seeds.
    """
    if params.adds_to is None:
        return None
    run = gating_run(inputs, "adds_to", task, "Adding seeds")
    if run.schema_version != VERSION:
        raise Invalid(
            f"The run named is of version {run.schema_version} of causal head gating, not of {VERSION}.",
            "Run it anew with as many seeds as you want.",
            code="other-version",
        )
    _check_settings(run, params)
    if params.seeds <= len(run.seeds):
        raise Invalid(
            f"The run named has {len(run.seeds)} seeds already, and {params.seeds} in all are asked for.",
            "Say how many seeds there shall be in all, more than there are.",
            code="no-more-seeds",
        )
    return run


def count(params: ChgParams, inputs: Mapping[str, Input] | None) -> int:
    """How many seeds are taken over; raises what ``taken_over`` does."""
    run = taken_over(params, inputs)
    return 0 if run is None else len(run.seeds)


def joined_to(earlier: Arrays, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """The arrays of both along the seeds, the earlier run's first."""
    return {
        name: np.concatenate([earlier[name], array], axis=int(name.startswith(_SECOND_AXIS)))
        for name, array in arrays.items()
    }


def _check_settings(run: Result, params: ChgParams) -> None:
    mine = params.model_dump(mode="json")
    differing = [
        f"{name} ({run.params.get(name)} there, {value} here)"
        for name, value in mine.items()
        if name not in _MAY_DIFFER and run.params.get(name) != value
    ]
    if differing:
        raise Invalid(
            f"Seeds can be added with the same settings only; these differ: {', '.join(differing)}.",
            "Give the settings of the run named, or start a run of its own.",
            code="other-settings",
        )
