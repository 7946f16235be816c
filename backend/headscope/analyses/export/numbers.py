"""Numbers as files: CSV of a table, JSON of the result or of a table, npz of the arrays."""

from __future__ import annotations

import csv as csv_format
import io
import json as json_format
from typing import Any

import numpy as np

from headscope.analyses import figures
from headscope.analyses.base import Result
from headscope.analyses.columns import Table
from headscope.core.arrays import is_typed


def csv(table: Table) -> bytes:
    """A header of names, then the rows. What isn't there is an empty cell; yes and no are true and false."""
    text = io.StringIO()
    writer = csv_format.writer(text, lineterminator="\n")
    writer.writerow([column["name"] for column in table["columns"]])
    writer.writerows([[_cell(value) for value in row] for row in table["rows"]])
    return text.getvalue().encode()


def json(result: Result, figure: str | None, threshold: float, mode: str, head: str | None = None) -> bytes:
    """Without a figure the whole result (``Result.from_json`` reads it), with one its table and reading."""
    if figure is None:
        return dump(result.to_json())
    meta = figures.build(result, figure, threshold, mode, head=head)["layout"]["meta"]
    words = {"figure": figure, "title": meta["title"], "reading": meta["reading"]}
    table = figures.table(result, figure, threshold, mode, head)
    return dump({**words, "threshold": threshold, "mode": mode, **table})


def npz(result: Result) -> bytes:
    """Every array by its name, and ``result``: the rest of the result as JSON text. Needs no pickle."""
    rest = {name: value for name, value in result.to_json().items() if not is_typed(value)}
    arrays: dict[str, Any] = {
        **result.arrays,
        "result": np.array(json_format.dumps(rest, ensure_ascii=False)),
    }
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    return content.getvalue()


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else value


def dump(content: Any) -> bytes:
    """JSON text; arrays in it are typed, so NaN has no place."""
    return json_format.dumps(content, ensure_ascii=False, allow_nan=False, indent=1).encode()
