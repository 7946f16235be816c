"""Results made up for tests, of their analyses' own classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
    return (known.result if known else Result).of_parts(header, arrays, values or {})


def changed(result: Result, **parts: Any) -> Result:
    """The result with another header, other ``arrays`` or other ``values``."""
    names = ("analysis", "schema_version", "params", "model", "task", "seeds", "arrays", "values")
    return made(**{name: parts.get(name, getattr(result, name)) for name in names})
