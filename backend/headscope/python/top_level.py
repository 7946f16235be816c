"""What ``import headscope as hs`` gives beside classes: runs, models and tasks of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headscope.errors import NotFound
from headscope.python.local import Local
from headscope.python.model import Model
from headscope.python.run import Run

if TYPE_CHECKING:
    from torch import nn

    from headscope.python.inputs import Rows


def run(
    analysis: str, /, *, model: str | Path | Model | tuple[nn.Module, Any],
    task: str | Path | Rows | Any = None, preset: str | None = None, **params: Any,
) -> Run:  # fmt: skip
    """Compute an analysis here and now, with a progress bar, into the store that pages and commands use.

    ``analysis`` is a name as docs/analyses lists them, ``model`` what ``load`` takes, ``task`` a name or a
    task's rows as ``add_task`` takes them, ``preset`` a named set of parameters such as ``quick``; ``params``
    override it. Where a parameter names a run, gates or prompts, a ``Run``, a gate vector or a list of texts
    can be given. The same request is the same run: one that was computed before is returned at once, one that
    was stopped goes on from its last finished piece.

    Raises ``NotFound`` for an unknown name, ``Invalid`` for parameters and rows, and the run's own error
    where it fails; Ctrl-C stops it and keeps what is finished.
    """
    return Local().compute(analysis, model=model, task=task, preset=preset, **params)


def find(run_id: str) -> Run | None:
    """A run of this machine by its id, computed here or shipped with Headscope; None where there is none."""
    try:
        return Local().run(run_id)
    except NotFound:
        return None


def runs(
    *, model: str | None = None, task: str | None = None, analysis: str | None = None,
    status: str | None = None,
) -> Iterator[Run]:  # fmt: skip
    """The runs of this machine that fit, the newest first, those that ship with Headscope among them."""
    return Local().runs(model=model, task=task, analysis=analysis, status=status)


def list_models() -> list[str]:
    """The names of the models that are known here; ``load`` says what to do where weights are missing."""
    return [entry.name for entry in Local().models()]


def list_tasks() -> list[str]:
    """The names of the tasks, built in and yours."""
    return [task.name for task in Local().tasks()]


def add_task(rows: Rows | str | Path | Any, name: str | None = None, **words: Any) -> str:
    """Keep a task of your own and return its name.

    ``rows`` are a list of ``{"prompt", "target"}`` (and perhaps ``"counterfactual"``), a DataFrame with these
    columns, or a .csv or .jsonl file. Without a name it is named by its content, and the same rows are kept
    once. ``words``: title, description, source, licence, template, separator, shots, instruction
    (docs/tasks.md). Raises ``Invalid`` naming the row at fault, ``Refused`` (task-exists) for a name in use.
    """
    return Local().add_task(rows, name, **words)
