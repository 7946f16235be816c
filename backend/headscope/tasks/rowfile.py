"""Rows from files and back: JSON lines and tables, with the fields prompt, target and counterfactual.

Every fault has one message with the place it stands on and what to do about it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from headscope.errors import Invalid, TooLarge
from headscope.files.json_text import json_lines, kind_of
from headscope.files.place import Place, quoted
from headscope.files.table import Table, read_table
from headscope.files.text import check_size, decoded, unstorable
from headscope.tasks.task import Row

MAX_BYTES = 10 * 2**20
MAX_ROWS = 50_000
MAX_CHARACTERS = 20_000
TABLES = (".csv", ".tsv")
JSON_LINES = (".jsonl", ".ndjson", ".json")

_FIELDS = ("prompt", "target", "counterfactual")
_JSON_LINE = '`{"prompt": "cat", "target": "cats"}`'
_HEADER = "`prompt,target` or `prompt,target,counterfactual`"


@dataclass(frozen=True)
class PlacedRow:
    """A row, and where it stands: ``columns`` are its fields' numbers, in a table."""

    row: Row
    place: Place
    columns: dict[str, int]

    def field(self, name: str) -> Place:
        """Where one of its fields stands."""
        return _field(self.place, self.columns, name)


def read_rows(filename: str, content: bytes, *, max_bytes: int = MAX_BYTES) -> list[PlacedRow]:
    """Rows as they stand in a .jsonl, .csv or .tsv file, each with its place; blank lines are passed over.

    Raises TooLarge beyond ``max_bytes`` or 50,000 rows, Invalid for anything that isn't a row.
    """
    ending = PurePath(filename).suffix.lower()
    if ending not in (*JSON_LINES, *TABLES):
        raise Invalid(
            f"{filename or 'The file'} is neither JSON lines nor CSV by its name.",
            "Save it as .jsonl or, from a spreadsheet, as “CSV UTF-8” (.csv).",
            code="file-type",
        )
    check_size(filename, content, max_bytes)
    text = decoded(filename, content)
    found = _table_rows(filename, text) if ending in TABLES else _json_rows(filename, text)
    rows: list[PlacedRow] = []
    for place, columns, values in found:
        if len(rows) == MAX_ROWS:
            raise TooLarge(f"{place}: the file has more than {MAX_ROWS:,} rows.", "Take fewer rows.")
        rows.append(PlacedRow(_row(place, columns, values), place, columns))
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


_Values = tuple[Place, dict[str, int], dict[str, Any]]


def _json_rows(filename: str, text: str) -> Iterator[_Values]:
    for line, values in json_lines(filename, text, _JSON_LINE):
        place = Place(filename, line)
        if not isinstance(values, dict):
            raise place.fault("this isn't a JSON object.", f"Write it like {_JSON_LINE}.", "json")
        for name in values:
            if name not in _FIELDS:
                raise place.fault(
                    f"the field {quoted(name)} is unknown.",
                    f"Use {', '.join(_FIELDS[:2])} and, where there is one, {_FIELDS[2]}.",
                    "unknown-field",
                )
        yield place, {}, values


def _table_rows(filename: str, text: str) -> Iterator[_Values]:
    table = read_table(filename, text, [_FIELDS[:2]])
    if table is None:
        raise Place(filename, 1).fault("there is no header.", f"Make it {_HEADER}.", "csv-header")
    _check_header(table)
    columns = {name: column for column, name in enumerate(table.names)}
    for record in table.rows():
        values = dict(zip(table.names, record.fields, strict=True))
        if not values.get("counterfactual"):
            values.pop("counterfactual", None)
        yield table.place(record), columns, values


def _check_header(table: Table) -> None:
    names = table.names
    odd = [column for column, name in enumerate(names) if name not in _FIELDS or names.index(name) < column]
    if odd or not set(_FIELDS[:2]) <= set(names):
        raise table.place(table.header, odd[0] if odd else None).fault(
            f"the header is {quoted(table.separator.join(table.header.fields))}.",
            f"Make it {_HEADER}.",
            "csv-header",
        )


def _row(place: Place, columns: dict[str, int], values: dict[str, Any]) -> Row:
    for name in _FIELDS:
        value = values.get(name)
        if value is None and name == "counterfactual":
            continue
        where = _field(place, columns, name)
        if value is None or (isinstance(value, str) and not value.strip()):
            raise where.fault(
                f"there is no {name}.", f"Give every row a {name}, or remove the line.", f"no-{name}"
            )
        if not isinstance(value, str):
            raise where.fault(
                f"the {name} isn't text but {kind_of(value)}.", 'Put it in double quotes: "2".', "not-text"
            )
        if len(value) > MAX_CHARACTERS:
            what = f"the {name} has {len(value):,} characters, at most {MAX_CHARACTERS:,} are taken."
            raise where.fault(what, "Shorten it.", "too-long")
        # JSON's escapes can write what no text file and no database holds.
        if fault := unstorable(value):
            raise where.fault(
                f"the {name} has {fault}.", "Write the character itself, or leave it out.", "not-text"
            )
    row = Row(**values)
    if row.counterfactual == row.target:
        raise _field(place, columns, "counterfactual").fault(
            "the counterfactual is the target.", "Give a wrong answer, or none.", "counterfactual"
        )
    return row


def _field(place: Place, columns: dict[str, int], name: str) -> Place:
    if name in columns and place.line is not None:
        return place.at(place.line, columns[name] + 1, name)
    return place
