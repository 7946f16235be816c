"""What an export says of the run it comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headscope.analyses import ANALYSES
from headscope.analyses.base import Result
from headscope.analyses.request import DEFAULT


@dataclass(frozen=True)
class Facts:
    """Title, one line below it, rows of name and value, and the command that gives the run again."""

    title: str
    subtitle: str
    rows: tuple[tuple[str, str], ...]
    reproduce: str | None
    file_stem: str

    @classmethod
    def of(cls, result: Result, run: Mapping[str, Any]) -> Facts:
        """From a result and the API's fields of its run; what is missing is left out."""
        task = _task(result)
        model = result.model
        title = f"{model.name} on {task}" if task else model.name
        count = len(result.seeds)
        seeds = f"{count} seed{'s' if count != 1 else ''} · " if count else ""
        analysis = ANALYSES[result.analysis].title
        subtitle = f"{analysis} · {seeds}{model.n_layers} layers × {model.n_heads} heads"
        return cls(
            title=title,
            subtitle=subtitle,
            rows=tuple((name, str(value)) for name, value in _rows(result, run) if value not in (None, "")),
            reproduce=run.get("reproduce") or None,
            file_stem=_file_stem(result, run),
        )


def _task(result: Result) -> str:
    task = result.task or {}
    return str(task.get("title") or task.get("name") or "")


def _rows(result: Result, run: Mapping[str, Any]) -> list[tuple[str, Any]]:
    model, values = result.model, result.values
    params = ", ".join(f"{name} {value}" for name, value in result.params.items() if value is not None)
    wall = run.get("wall_seconds")
    return [
        ("Model", f"{model.name} ({model.n_params / 1e6:.3g} million parameters)"),
        ("Weights", model.revision),
        ("Tokenizer", model.tokenizer_hash),
        ("Precision", f"{model.dtype}, weight processing: {model.weight_processing}"),
        ("Task", _task(result)),
        ("Task's content", (result.task or {}).get("content_hash")),
        ("Examples", _examples(values)),
        ("Preset", run.get("preset")),
        ("Parameters", params),
        ("Seeds", ", ".join(map(str, result.seeds))),
        ("Caveats", " ".join(values.get("notes") or ())),
        ("Run", run.get("id")),
        ("Computed", _moment(run.get("finished_at"))),
        ("Took", _duration(wall) if wall is not None else None),
        ("On", run.get("machine")),
        ("Headscope", run.get("code_version")),
    ]


def _examples(values: Mapping[str, Any]) -> str | None:
    train, test = values.get("n_train"), values.get("n_test")
    return None if train is None else f"{train} to fit on, {test} held out"


def _moment(moment: Any) -> str | None:
    return None if moment is None else str(moment).replace("T", " ")[:16]


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _file_stem(result: Result, run: Mapping[str, Any]) -> str:
    task = str((result.task or {}).get("name") or "")
    analysis = "" if result.analysis == DEFAULT and task else result.analysis
    words = ["headscope", result.model.name, analysis, task, str(run.get("id") or "")[:8]]
    return re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(word for word in words if word)).strip("-.")
