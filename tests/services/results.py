"""Results made up for tests, of their analyses' own classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headscope.analyses import ANALYSES
from headscope.analyses.base import Arrays, Result
from headscope.core.model.info import ModelInfo


def made(
    analysis: str,
    schema_version: int,
    params: Mapping[str, Any],
    model: ModelInfo,
    task: Mapping[str, Any] | None,
    seeds: Sequence[int],
    arrays: Arrays,
    values: Mapping[str, Any] | None = None,
) -> Result:
    """A result from its stored names; a plain one where no analysis is called so."""
    header = {
        "analysis": analysis,
        "schema_version": schema_version,
        "params": params,
        "model": model,
        "task": task,
        "seeds": tuple(seeds),
    }
    known = ANALYSES.get(analysis)
    if analysis == "chg":
        arrays = {**_gating(arrays["g_plus"]), **arrays}
    return (known.result if known else Result).of_parts(header, arrays, values or {})


def _gating(g_plus: Any) -> dict[str, Any]:
    """What a gating run has beside its two gates, of no import to most tests."""
    seeds = len(g_plus)
    losses = {f"loss_{phase}": np.zeros((seeds, 1), np.float32) for phase in ("zero", "plus", "minus")}
    heldout = {
        "heldout_accuracy": np.ones((4, seeds), np.float32),
        "heldout_log_probability": np.zeros((4, seeds), np.float32),
    }
    return {"g_zero": g_plus, **losses, **heldout}


def changed(result: Result, **parts: Any) -> Result:
    """The result with another header, other ``arrays`` or other ``values``."""
    names = ("analysis", "schema_version", "params", "model", "task", "seeds", "arrays", "values")
    return made(**{name: parts.get(name, getattr(result, name)) for name in names})
