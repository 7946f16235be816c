"""A shipped run as a file: what was asked for, what came out, how it came about. Gzipped JSON."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from headscope.analyses import stored
from headscope.analyses.base import Result
from headscope.analyses.request import DEFAULT, Request
from headscope.core.model.info import ModelInfo
from headscope.errors import Invalid

FORMAT = 1
FOLDER = Path(__file__).parent / "runs"
SUFFIX = ".json.gz"


@dataclass(frozen=True)
class Shipped:
    """One run: its request (with id), result, headline; the code, machine, wall seconds and moment of it."""

    request: Request
    result: Result
    headline: dict[str, Any]
    code_version: str
    machine: str | None
    wall_seconds: float | None
    finished_at: datetime

    @property
    def filename(self) -> str:
        """``model-task.json.gz`` of a gating run, else ``analysis-model.json.gz``, ``-task`` if it has one,
        and what closed heads give where that isn't zero.

        A run of the same analysis, model, task and ablation takes its predecessor's place.
        """
        request = self.request
        analysis = "" if request.analysis == DEFAULT else request.analysis
        words = (analysis, request.model.name, request.task, replaced_by(request.params))
        return re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(word for word in words if word)) + SUFFIX


def replaced_by(params: Mapping[str, Any]) -> str:
    """What closed heads give, where it is something: "mean", say; empty where they give zero."""
    ablation = str(params.get("ablation", "zero"))
    return "" if ablation == "zero" else ablation


def write(shipped: Shipped, folder: Path) -> Path:
    """Write a run into a folder, all or nothing; the same run gives the same bytes."""
    content = {
        "format": FORMAT,
        "request": {**asdict(shipped.request), "model": shipped.request.model.to_json()},
        "result": shipped.result.to_json(),
        "headline": list(shipped.headline.items()),  # in the order in which it is told
        "code_version": shipped.code_version,
        "machine": shipped.machine,
        "wall_seconds": shipped.wall_seconds,
        "finished_at": shipped.finished_at.isoformat(),
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / shipped.filename
    partial = path.with_suffix(".partial")
    partial.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    return partial.replace(path)


def read(path: Path) -> Shipped:
    """The inverse of ``write``. Raises ``Invalid`` (malformed-gallery) for anything else."""
    try:
        content = json.loads(gzip.decompress(path.read_bytes()))
        if content["format"] != FORMAT:
            raise ValueError(f"format {content['format']} instead of {FORMAT}")
        return Shipped(
            request=_request(content["request"]),
            result=stored.read(content["result"]),
            headline=dict(content["headline"]),
            code_version=content["code_version"],
            machine=content["machine"],
            wall_seconds=content["wall_seconds"],
            finished_at=datetime.fromisoformat(content["finished_at"]),
        )
    except (OSError, EOFError, ValueError, KeyError, TypeError, Invalid) as error:
        raise Invalid(
            f"The shipped run {path.name} can't be read: {error}.",
            "Reinstall Headscope, or rebuild it: `headscope atlas build`.",
            code="malformed-gallery",
        ) from error


def files(folder: Path = FOLDER) -> Iterator[Path]:
    """The shipped runs' files, by name."""
    yield from sorted(folder.glob(f"*{SUFFIX}"))


def _request(content: dict[str, Any]) -> Request:
    return Request(
        **{**content, "model": ModelInfo(**content["model"]), "seeds": tuple(content["seeds"])},
    )
