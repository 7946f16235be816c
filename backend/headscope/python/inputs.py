"""What people give in place of names and ids: rows, files, frames, runs, gates, prompts.

A task of rows is named by its content, ``colours-1a2b3c4d`` for colours.csv: the same rows are the same task
whenever they are given, and other rows are another one.
"""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from headscope.errors import Invalid, NotFound
from headscope.python.run import Run

if TYPE_CHECKING:
    from headscope.core.gating.gate_vector import GateVector

Rows = Sequence[Mapping[str, Any]] | Sequence[Sequence[str]]
"""Rows with ``prompt``, ``target`` and perhaps ``counterfactual``: by name, or as tuples in that order."""

FIELDS = ("prompt", "target", "counterfactual")


@dataclass(frozen=True)
class RowFile:
    """A task's rows as a file, as an upload takes them, and the name that goes with its content."""

    name: str
    filename: str
    content: bytes


class Keeper(Protocol):
    """Keeps what a run's parameters are given whole, and answers with its id."""

    def add_gates(self, gates: GateVector) -> str:
        """Keep gates; returns their id."""
        ...

    def add_prompts(self, prompts: Sequence[str] | str | Path) -> str:
        """Keep prompts; returns their id."""
        ...

    def add_task(self, rows: Any) -> str:
        """Keep a task; returns its name."""
        ...


def named(params: Mapping[str, Any], references: Mapping[str, str], keeper: Keeper) -> dict[str, Any]:
    """A run's parameters with ids and names where runs, gates, prompts or rows were given."""
    return {name: _named(value, references.get(name), keeper) for name, value in params.items()}


def is_rows(task: object) -> bool:
    """Whether a task is given by its rows or its file, and not by its name."""
    if isinstance(task, str):
        return task.lower().endswith((".csv", ".tsv", ".jsonl", ".ndjson"))
    return True


def row_file(rows: Rows | str | Path | Any, name: str | None = None) -> RowFile:
    """Rows, a .csv or .jsonl file, or a DataFrame as a task's file.

    Raises ``NotFound`` (file-unreadable), ``Invalid`` (no-rows) for what are no rows.
    """
    if isinstance(rows, str | Path):
        path = Path(rows).expanduser()
        content = _content(path, "Name a .jsonl, .csv or .tsv file, or a task as hs.list_tasks() lists them.")
        return RowFile(name or _by_content(path.stem, content), path.name, content)
    listed = rows.to_dict("records") if hasattr(rows, "to_dict") else rows
    lines = [json.dumps(_row(row), ensure_ascii=False) for row in _listed(listed)]
    content = "".join(f"{line}\n" for line in lines).encode()
    return RowFile(name or _by_content("rows", content), "rows.jsonl", content)


def prompt_file(prompts: Sequence[str] | str | Path) -> tuple[str, bytes]:
    """Prompts, or a .txt, .jsonl, .csv or .tsv file of them, as a file's name and content.

    Raises ``NotFound`` (file-unreadable).
    """
    if isinstance(prompts, Path):
        path = prompts.expanduser()
        return path.name, _content(path, "Name a .txt, .jsonl, .csv or .tsv file.")
    if isinstance(prompts, str):
        return "prompt.txt", prompts.encode()
    return "prompts.jsonl", "".join(f"{json.dumps(p, ensure_ascii=False)}\n" for p in prompts).encode()


def warn_unused(words: str) -> None:
    """Warn of rows of a task that aren't used, where there are any."""
    if words:
        warnings.warn(words, stacklevel=3)


def _content(path: Path, remedy: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise NotFound(f"{path} can't be read: {error.strerror}.", remedy, code="file-unreadable") from error


def _named(value: Any, kind: str | None, keeper: Keeper) -> Any:
    if isinstance(value, Run):
        return value.id
    if kind == "gates" and hasattr(value, "gates"):
        return keeper.add_gates(value)
    if kind == "prompts" and not isinstance(value, str):
        return keeper.add_prompts(value)
    if kind == "task" and is_rows(value):
        return keeper.add_task(value)
    if kind == "tasks" and not isinstance(value, str):
        return [keeper.add_task(each) if is_rows(each) else each for each in value]
    return value


def _listed(rows: Any) -> Iterable[Any]:
    if not isinstance(rows, Sequence) or not rows:
        raise Invalid(
            f"{type(rows).__name__} holds no rows of a task.",
            "Give a list of {'prompt': ..., 'target': ...}, a DataFrame with these columns, or a .csv file.",
            code="no-rows",
        )
    return cast("Iterable[Any]", rows)


def _row(row: Any) -> dict[str, Any]:
    """One row by its fields; a NaN, which is how pandas says that there is none, is left out."""
    pairs = row.items() if isinstance(row, Mapping) else zip(FIELDS, row, strict=False)
    return {name: value for name, value in pairs if value is not None and not _is_nan(value)}


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _by_content(stem: str, content: bytes) -> str:
    letters = "".join(c if c.isascii() and c.isalnum() else "-" for c in stem.lower())
    start = "-".join(part for part in letters.split("-") if part)[:48] or "rows"
    return f"{start}-{hashlib.sha256(content).hexdigest()[:8]}"
