"""Prompts from a file: a text file is one prompt; JSON lines and tables hold a batch.

JSON lines: a string a line, or an object with ``text`` or ``prompt``. A table (.csv, .tsv): a column of that
name in the header, or one column, whose header may be left out. Other fields and columns are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from headscope.errors import Invalid, TooLarge
from headscope.files.json_text import json_lines, kind_of
from headscope.files.place import Place, quoted
from headscope.files.table import SEPARATORS, Table, read_table
from headscope.files.text import check_size, decoded
from headscope.tasks.prompts import MAX_PROMPTS, PromptSet, check_text, prompt_set
from headscope.tasks.rowfile import JSON_LINES, MAX_BYTES, TABLES

_FIELDS = ("text", "prompt")
_JSON_LINE = '`{"text": "The cat sat"}` or `"The cat sat"`'


def read_prompts(filename: str, content: bytes, name: str = "", *, max_bytes: int = MAX_BYTES) -> PromptSet:
    """The prompts of a .txt, .jsonl, .csv or .tsv file, under the file's name where none is given.

    Of a text file the last line's end is left out: editors put it there, nobody means it as a token. Raises
    ``TooLarge`` beyond ``max_bytes`` or 10,000 prompts, ``Invalid`` with the place of what can't be a prompt.
    """
    ending = PurePath(filename).suffix.lower()
    if ending not in (".txt", *TABLES, *JSON_LINES):
        raise Invalid(
            f"{filename or 'The file'} is neither text, JSON lines nor CSV by its name.",
            "Save it as .txt (one prompt), .jsonl or .csv (one prompt per row).",
            code="file-type",
        )
    check_size(filename, content, max_bytes)
    text = decoded(filename, content)
    if ending == ".txt":
        texts = [re.sub(r"(\r\n|\n|\r)\Z", "", text)]
        check_text(texts[0], f"{filename}: the prompt")
    else:
        texts = _batch(filename, _table(filename, text) if ending in TABLES else _json(filename, text))
    return prompt_set(texts, name.strip() or PurePath(filename).stem)


def _batch(filename: str, placed: Iterator[tuple[Place, str]]) -> list[str]:
    texts: list[str] = []
    for place, text in placed:
        if len(texts) == MAX_PROMPTS:
            raise TooLarge(
                f"{place}: the file has more than {MAX_PROMPTS:,} prompts.", "Split it into several files."
            )
        check_text(text, f"{place}: the prompt")
        texts.append(text)
    if not texts:
        raise Invalid(
            f"{filename} has no prompts.",
            f"Give each prompt a line like {_JSON_LINE}, or a CSV line below the header `text`.",
            code="no-prompts",
        )
    return texts


def _json(filename: str, text: str) -> Iterator[tuple[Place, str]]:
    for line, value in json_lines(filename, text, _JSON_LINE):
        place, found = Place(filename, line), value
        if isinstance(value, dict):
            found = value[_field(place, list(value))]
        if not isinstance(found, str):
            raise place.fault(
                f"the prompt isn't text but {kind_of(found)}.", f"Write {_JSON_LINE}.", "not-text"
            )
        yield place, found


def _table(filename: str, text: str) -> Iterator[tuple[Place, str]]:
    table = read_table(filename, text, [[name] for name in _FIELDS])
    if table is None:
        return
    column = 0
    if len(table.names) > 1 or table.names[0] in _FIELDS:
        column = table.names.index(_field(table.place(table.header), table.names))
    else:
        _check_one_column(table)
        yield table.place(table.header), table.header.fields[0]
    for record in table.rows():
        yield table.place(record, column), record.fields[column]


def _check_one_column(table: Table) -> None:
    """A first line without a name may be the header of a table whose lines are uneven."""
    first = table.header
    mark = next((mark for mark in SEPARATORS if first.bare and mark in first.fields[0]), None)
    if mark:
        raise table.place(first).fault(
            f"the {SEPARATORS[mark]} may separate columns, or be part of a prompt.",
            "Name the column with the prompts `text` in the first line, or put prompts in double quotes.",
            "csv-separator",
        )


def _field(place: Place, names: Sequence[str]) -> str:
    found = [name for name in _FIELDS if name in names]
    if len(found) == 1 and names.count(found[0]) == 1:
        return found[0]
    what = "both text and prompt" if len(found) > 1 else quoted(", ".join(names))
    raise place.fault(
        f"the fields are {what}.",
        "Name the one with the prompt `text`; text with separators in it stands in double quotes.",
        "no-prompt-field",
    )
