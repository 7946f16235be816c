"""Rows from files and back: JSON lines and CSV in UTF-8, with the fields prompt, target and counterfactual.

Every fault has one message with the line it stands on and what to do about it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import Any

from headscope.errors import Invalid, TooLarge
from headscope.tasks.task import Row
from headscope.tasks.textfile import (
    at_line,
    csv_records,
    decoded,
    json_values,
    shortened,
    unstorable,
)

MAX_BYTES = 10 * 2**20
MAX_ROWS = 50_000
MAX_CHARACTERS = 20_000

_FIELDS = ("prompt", "target", "counterfactual")
_JSON_LINE = '`{"prompt": "cat", "target": "cats"}`'
_HEADER = "`prompt,target` or `prompt,target,counterfactual`"
_JSON_ENDINGS = (".jsonl", ".ndjson", ".json")


def read_rows(filename: str, content: bytes, *, max_bytes: int = MAX_BYTES) -> list[tuple[int, Row]]:
    """Rows with the line each begins on, as they stand in a .jsonl or .csv file; blank lines are passed over.

    Raises TooLarge beyond ``max_bytes`` or 50,000 rows, Invalid for anything that isn't a row.
    """
    ending = PurePath(filename).suffix.lower()
    if ending not in (*_JSON_ENDINGS, ".csv"):
        raise Invalid(
            f"{filename or 'The file'} is neither JSON lines nor CSV by its name.",
            "Save it as .jsonl or, from a spreadsheet, as “CSV UTF-8” (.csv).",
            code="file-type",
        )
    if len(content) > max_bytes:
        raise TooLarge(
            f"{filename} has {len(content):,} bytes, at most {max_bytes:,} are taken.", "Upload fewer rows."
        )
    text = decoded(content)
    numbered = _csv_rows(text) if ending == ".csv" else _json_rows(text)
    rows: list[tuple[int, Row]] = []
    for line, values in numbered:
        if len(rows) == MAX_ROWS:
            raise TooLarge(f"{filename} has more than {MAX_ROWS:,} rows.", "Upload fewer rows.")
        rows.append((line, _row(line, values)))
    if not rows:
        raise Invalid(
            f"{filename} has no rows.",
            f"Give each row a line like {_JSON_LINE}, or a CSV line below the header {_HEADER}.",
            code="no-rows",
        )
    return rows


def to_jsonl(rows: Iterable[Row]) -> bytes:
    """Rows as JSON lines, readable by ``read_rows``."""
    return "".join(f"{json.dumps(_values(row), ensure_ascii=False)}\n" for row in rows).encode()


def to_csv(rows: Sequence[Row]) -> bytes:
    """Rows as CSV with a header, readable by ``read_rows``; the third column only where it is used."""
    fields = _FIELDS if any(row.counterfactual is not None for row in rows) else _FIELDS[:2]
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, fields)
    writer.writeheader()
    writer.writerows(_values(row) for row in rows)
    return out.getvalue().encode()


def _values(row: Row) -> dict[str, str]:
    pairs = ((name, getattr(row, name)) for name in _FIELDS)
    return {name: value for name, value in pairs if value is not None}


def _json_rows(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, values in json_values(text, _JSON_LINE):
        if not isinstance(values, dict):
            raise at_line(line, "this isn't a JSON object.", f"Write it like {_JSON_LINE}.", "json")
        for name in values:
            if name not in _FIELDS:
                raise at_line(
                    line,
                    f"the field {shortened(name)} is unknown.",
                    f"Use {', '.join(_FIELDS[:2])} and, where there is one, {_FIELDS[2]}.",
                    "unknown-field",
                )
        yield line, values


def _csv_rows(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    records = csv_records(text)
    line, header = next(records, (1, []))
    fields = [name.strip().lower() for name in header]
    _check_header(line, header, fields)
    for line, record in records:
        if len(record) != len(fields):
            raise at_line(
                line,
                f"{len(record)} fields, the header has {len(fields)}.",
                'Put fields with commas in double quotes ("a, b"), and double the quotes within them.',
                "csv-fields",
            )
        values = dict(zip(fields, record, strict=True))
        if not values.get("counterfactual"):
            values.pop("counterfactual", None)
        yield line, values


def _check_header(line: int, header: list[str], fields: list[str]) -> None:
    found = ",".join(header)
    if len(fields) == 1 and any(mark in found for mark in ";\t"):
        raise at_line(
            line, f"the header {shortened(found)} has no commas.", "Separate fields by commas.", "csv-header"
        )
    unknown = [name for name in fields if name not in _FIELDS]
    missing = [name for name in _FIELDS[:2] if name not in fields]
    if unknown or missing or len(set(fields)) < len(fields):
        raise at_line(line, f"the header is {shortened(found)}.", f"Make it {_HEADER}.", "csv-header")


def _row(line: int, values: dict[str, Any]) -> Row:
    for name in _FIELDS:
        value = values.get(name)
        if value is None and name == "counterfactual":
            continue
        if value is None or (isinstance(value, str) and not value.strip()):
            raise at_line(
                line, f"there is no {name}.", f"Give every row a {name}, or remove the line.", f"no-{name}"
            )
        if not isinstance(value, str):
            raise at_line(line, f"the {name} isn't text.", 'Put it in double quotes: "2".', "not-text")
        if len(value) > MAX_CHARACTERS:
            raise at_line(
                line,
                f"the {name} has {len(value):,} characters, at most {MAX_CHARACTERS:,} are taken.",
                "Shorten it.",
                "too-long",
            )
        _check_characters(line, name, value)
    row = Row(**values)
    if row.counterfactual == row.target:
        raise at_line(
            line, "the counterfactual is the target.", "Give a wrong answer, or none.", "counterfactual"
        )
    return row


def _check_characters(line: int, name: str, value: str) -> None:
    """JSON's escapes can write what no text file and no database holds."""
    fault = unstorable(value)
    if fault:
        raise at_line(
            line, f"the {name} has {fault}.", "Write the character itself, or leave it out.", "not-text"
        )
