"""The run that seeds are added to: whether it can be, and its arrays as a piece of the run that adds.

``seeds`` counts all seeds, those taken over and those to be fitted, so that the result is what a run of so
many seeds from nothing would give.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.analyses.base import Arrays, Spec
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.chg.schema import ChgParams
from headscope.analyses.gating_run import gating_run
from headscope.errors import Invalid

_MAY_DIFFER = ("seeds", "adds_to", "check_closed", "null_fits")
_SECOND_AXIS = ("heldout_", "rounded_", "binary_")
"""Beginnings of the names of arrays [condition, seed]; all others are [seed, ...]."""


def taken_over(spec: Spec[ChgParams]) -> ChgResult | None:
    """The run whose seeds are taken over; None where none is named.

    Raises ``Invalid``: what ``gating_run`` does; other-version; other-settings, naming what differs
    or forbids it; no-more-seeds.
    """
    params = spec.params
    if params.adds_to is None:
        return None
    run = gating_run(spec, "adds_to")
    if run.schema_version != ChgResult.VERSION:
        raise Invalid(
            f"The run named is of version {run.schema_version} of causal head gating, not of "
            f"{ChgResult.VERSION}.",
            "Start a separate run with as many seeds as you want.",
            code="other-version",
        )
    if params.clip_over == "all":
        raise Invalid(
            "Gradients of all seeds are clipped as one, so seeds can't be added later.",
            "Start a separate run with as many seeds as you want, or clip each seed's by itself.",
            code="other-settings",
        )
    _check_settings(run, params)
    if params.seeds < len(run.seeds) or (params.seeds == len(run.seeds) and params.null_fits <= _nulls(run)):
        raise Invalid(
            f"The run named has {len(run.seeds)} seeds already, and {params.seeds} in all were asked for.",
            "Give the total number of seeds, more than there are already; or as many, and more fits on "
            "permuted targets.",
            code="no-more-seeds",
        )
    return run


def count(spec: Spec[ChgParams]) -> int:
    """How many seeds are taken over; raises what ``taken_over`` does."""
    run = taken_over(spec)
    return 0 if run is None else len(run.seeds)


def null_count(spec: Spec[ChgParams]) -> int:
    """How many fits on permuted targets are taken over; raises what ``taken_over`` does."""
    run = taken_over(spec)
    return 0 if run is None else _nulls(run)


def joined_to(earlier: Arrays, arrays: Arrays) -> dict[str, NDArray[Any]]:
    """The arrays of both along the seeds, the earlier run's first."""
    return {
        name: np.concatenate([earlier[name], array], axis=int(name.startswith(_SECOND_AXIS)))
        for name, array in arrays.items()
    }


def _nulls(run: ChgResult) -> int:
    return 0 if run.null_plus is None else len(run.null_plus)


def _check_settings(run: ChgResult, params: ChgParams) -> None:
    mine = params.model_dump(mode="json")
    theirs = ChgParams.model_validate(run.params).model_dump(mode="json")  # what it lacks was the default
    differing = [
        f"{name} ({theirs[name]} there, {value} here)"
        for name, value in mine.items()
        if name not in _MAY_DIFFER and theirs[name] != value
    ]
    if differing:
        raise Invalid(
            f"Seeds can be added with the same settings only; these differ: {', '.join(differing)}.",
            "Use the settings of the run named, or start a separate run.",
            code="other-settings",
        )
