"""A run's heads as a list: text, CSV, JSON. Each is read again wherever a list of heads is asked for."""

from __future__ import annotations

from headscope.analyses.base import Result
from headscope.analyses.request import find
from headscope.core.model.head_list import as_csv, as_json, as_text
from headscope.errors import Refused
from headscope.figures.view import View


def heads(result: Result, view: View, kind: str) -> bytes:
    """As ``txt``, ``csv`` or ``json``; ``Refused`` (no-heads) for an analysis that gives none."""
    listed = find(result.analysis).heads
    if listed is None:
        raise Refused(
            f"A run of {result.analysis} gives no list of heads.",
            "Export one of a gating run, of sufficient heads, or of the test of a circuit.",
            code="no-heads",
        )
    found = listed(result, view)
    task = (result.task or {}).get("name")
    if kind == "csv":
        return as_csv(found).encode()
    if kind == "json":
        return as_json(found, {"model": result.model.name, "task": task}).encode()
    about = f"# {len(found)} heads of {result.model.name}" + (f", {task}" if task else "")
    return f"{about}\n{as_text(found)}\n".encode()
