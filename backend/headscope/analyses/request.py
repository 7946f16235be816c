"""From what someone asks for to a run's identity: validated, presets filled in, content-addressed.

The id is the first 20 hexadecimal digits of the SHA-256 of the canonical JSON (sorted keys, no spaces) of:
analysis and its version, all parameters, model name and revision, tokenizer hash, dtype, attention
implementation, weight processing, and the task's name and content hash; and, where parameters name tasks, the
content hash of each. The same request gives the same id; the code's version is no part of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from headscope.analyses import ANALYSES
from headscope.analyses.base import Analysis, Params
from headscope.analyses.references import TasksRef
from headscope.core.model.info import ModelInfo
from headscope.errors import HeadscopeError, Invalid, NotFound
from headscope.tasks.catalogue import TaskCatalogue
from headscope.tasks.task import Task

DEFAULT = "chg"
"""The analysis that is meant where none is named; names of files and titles leave it out."""


@dataclass(frozen=True)
class Request:
    """A run that could be started. ``params`` is complete, plain JSON; ``model.dtype`` the run's own."""

    id: str
    analysis: str
    version: int
    title: str
    model: ModelInfo
    attention: str
    task: str | None
    task_title: str | None
    task_hash: str | None
    preset: str | None
    params: dict[str, Any]
    seeds: tuple[int, ...]

    @property
    def parsed(self) -> Params:
        """The parameters as the analysis' own type."""
        parsed: Params = find(self.analysis).params.model_validate(self.params)
        return parsed


def find(name: str) -> Analysis[Any, Any]:
    """The analysis of that name; ``NotFound`` (unknown-analysis) lists those there are."""
    try:
        return ANALYSES[name]
    except KeyError:
        raise NotFound(
            f"There is no analysis {name!r}.", f"Known: {', '.join(ANALYSES)}.", code="unknown-analysis"
        ) from None


def resolve(
    analysis: str,
    model: ModelInfo,
    task: Task | None,
    preset: str | None,
    params: Mapping[str, Any] | None = None,
    catalogue: TaskCatalogue | None = None,
) -> Request:
    """Validate a request and name it. ``params`` override the preset's; without a preset the defaults hold.

    ``catalogue`` has the tasks that parameters may name, the built-in ones where unset. Raises ``NotFound``
    for an unknown analysis, or an unknown task among the parameters; ``Invalid`` for an unknown preset or
    parameter, a value out of its limits, or a missing task.
    """
    chosen = find(analysis)
    if chosen.needs_task and task is None:
        raise Invalid(
            f"{chosen.title} needs a task.",
            "Name one: `headscope tasks list` shows them.",
            code="task-missing",
            remedies={"page": "Choose one.", "api": "Name one as `task`: GET /api/v1/tasks lists them."},
        )
    parsed = parse_params(chosen, preset, params or {})
    full = parsed.model_dump(mode="json")
    model = replace(model, dtype=full.get("dtype", model.dtype))
    named = named_tasks(chosen, full, catalogue)
    return Request(
        id=run_id(identity(chosen, full, model, task, named)),
        analysis=chosen.name,
        version=chosen.version,
        title=chosen.title,
        model=model,
        attention=chosen.attention,
        task=task.name if task else None,
        task_title=task.title if task else None,
        task_hash=task.content_hash if task else None,
        preset=preset,
        params=full,
        seeds=tuple(chosen.seeds(parsed)),
    )


def identity(
    analysis: Analysis[Any, Any],
    params: Mapping[str, Any],
    model: ModelInfo,
    task: Task | None,
    named: Mapping[str, tuple[Task, ...]],
) -> dict[str, Any]:
    """All that decides a run's answer, as plain JSON; ``model.dtype`` is the run's own."""
    content = sorted({(task.name, task.content_hash) for tasks in named.values() for task in tasks})
    return {
        "analysis": analysis.name,
        "version": analysis.version,
        "params": analysis.params.identifying(params),
        "model": model.name,
        "revision": model.revision,
        "tokenizer": model.tokenizer_hash,
        "dtype": model.dtype,
        "attention": analysis.attention,
        "weight_processing": model.weight_processing,
        "task": task.name if task else None,
        "task_content": task.content_hash if task else None,
        # Only where there are any: the ids of runs from before there could be stay as they are.
        **({"tasks_content": dict(content)} if content else {}),
    }


def named_tasks(
    analysis: Analysis[Any, Any], params: Mapping[str, Any], catalogue: TaskCatalogue | None = None
) -> dict[str, tuple[Task, ...]]:
    """The tasks that each parameter of kind ``task`` or ``tasks`` names; those without a value are left out.

    Raises ``NotFound`` (unknown-task) with the parameter's name.
    """
    found: dict[str, tuple[Task, ...]] = {}
    for param, reference in analysis.references.items():
        names = params.get(param) or ()
        if not isinstance(reference, TasksRef) or not names:
            continue
        known = catalogue or TaskCatalogue()
        try:
            found[param] = tuple(known.get(name) for name in ([names] if reference.kind == "task" else names))
        except HeadscopeError as error:
            raise error.about(param) from error
    return found


def spoken(analysis: str, preset: str | None, params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a command must name: those that differ from what the preset alone gives today."""
    chosen = find(analysis)
    given = parse_params(chosen, preset, {}).model_dump(mode="json")
    asked = chosen.params.completed(params)
    return {name: value for name, value in asked.items() if given.get(name) != value}


def run_id(identity: Mapping[str, Any]) -> str:
    """First 20 hexadecimal digits of the SHA-256 of canonical JSON."""
    canonical = json.dumps(
        identity, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=True
    )
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:20]


def parse_params(analysis: Analysis[Any, Any], preset: str | None, params: Mapping[str, Any]) -> Params:
    """The preset's values, then the caller's, checked against the schema."""
    if preset is not None and preset not in analysis.presets:
        raise Invalid(
            f"{analysis.title} has no preset {preset!r}.",
            f"Known: {', '.join(analysis.presets)}.",
            code="unknown-preset",
        )
    known = analysis.params.model_fields
    unknown = [name for name in params if name not in known]
    if unknown:
        raise Invalid(
            f"{analysis.title} has no parameter {', '.join(map(repr, unknown))}.",
            f"Known: {', '.join(known)}.",
            code="unknown-parameter",
        )
    base = analysis.presets[preset] if preset is not None else {}
    try:
        parsed: Params = analysis.params.model_validate({**base, **params})
    except ValidationError as error:
        raise Invalid(
            _reasons(error), "Change the parameters named and send again.", code="invalid-parameter"
        ) from error
    return parsed


def _reasons(error: ValidationError) -> str:
    first = error.errors()[:5]
    return " ".join(f"{'.'.join(map(str, e['loc'])) or 'params'}: {e['msg']}." for e in first)
