"""Prompts from a file: a text file is one prompt; JSON lines and CSV hold a batch.

JSON lines: a string a line, or an object with ``text`` or ``prompt``. CSV: a column of that name in the
header, or one column only, whose header may be left out. Other fields and columns are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any

from headscope.errors import Invalid, TooLarge
from headscope.tasks.prompts import MAX_PROMPTS, PromptSet, check_text, prompt_set
from headscope.tasks.rowfile import MAX_BYTES
from headscope.tasks.textfile import at_line, csv_records, decoded, json_values, shortened

_FIELDS = ("text", "prompt")
_JSON_LINE = '`{"text": "The cat sat"}` or `"The cat sat"`'
_JSON_ENDINGS = (".jsonl", ".ndjson", ".json")


def read_prompts(filename: str, content: bytes, name: str = "", *, max_bytes: int = MAX_BYTES) -> PromptSet:
    """The prompts of a .txt, .jsonl or .csv file in UTF-8, under the file's name where none is given.

    Of a text file the last line's end is left out: editors put it there, nobody means it as a token. Raises
    ``TooLarge`` beyond ``max_bytes`` or 10,000 prompts, ``Invalid`` for what can't be prompts, with the line.
    """
    ending = PurePath(filename).suffix.lower()
    if ending not in (".txt", ".csv", *_JSON_ENDINGS):
        raise Invalid(
            f"{filename or 'The file'} is neither text, JSON lines nor CSV by its name.",
            "Save it as .txt (one prompt), .jsonl or .csv (one prompt per row).",
            code="file-type",
        )
    if len(content) > max_bytes:
        raise TooLarge(
            f"{filename} has {len(content):,} bytes, at most {max_bytes:,} are taken.", "Send fewer prompts."
        )
    text = decoded(content)
    if ending == ".txt":
        texts = [re.sub(r"\r?\n\Z", "", text)]
    else:
        texts = _batch(filename, _csv(text) if ending == ".csv" else _json(text))
    return prompt_set(texts, name.strip() or PurePath(filename).stem)


def _batch(filename: str, numbered: Iterator[tuple[int, str]]) -> list[str]:
    texts: list[str] = []
    for line, text in numbered:
        if len(texts) == MAX_PROMPTS:
            raise TooLarge(
                f"Line {line}: {filename} has more than {MAX_PROMPTS:,} prompts.",
                "Split it into several files.",
            )
        check_text(text, f"Line {line}: the prompt")
        texts.append(text)
    if not texts:
        raise Invalid(
            f"{filename} has no prompts.",
            f"Give each prompt a line like {_JSON_LINE}, or a CSV line below the header `text`.",
            code="no-prompts",
        )
    return texts


def _json(text: str) -> Iterator[tuple[int, str]]:
    for line, value in json_values(text, _JSON_LINE):
        found = value
        if isinstance(value, dict):
            found = value[_field(line, list(value))]
        if not isinstance(found, str):
            raise at_line(
                line, f"the prompt isn't text but {_kind(found)}.", f"Write {_JSON_LINE}.", "not-text"
            )
        yield line, found


def _csv(text: str) -> Iterator[tuple[int, str]]:
    records = csv_records(text)
    start = next(records, None)
    if start is None:
        return
    first, header = start
    fields = [name.strip().lower() for name in header]
    named = len(header) > 1 or fields[0] in _FIELDS
    column = fields.index(_field(first, fields)) if named else 0
    if not named:
        yield first, header[0]
    for line, record in records:
        if len(record) != len(header):
            raise at_line(
                line,
                f"{len(record)} fields, the first line has {len(header)}.",
                'Put prompts with commas in double quotes ("a, b"), and double the quotes within them.',
                "csv-fields",
            )
        yield line, record[column]


def _field(line: int, names: Sequence[str]) -> str:
    found = [name for name in _FIELDS if name in names]
    if len(found) == 1 and names.count(found[0]) == 1:
        return found[0]
    what = "both text and prompt" if found else shortened(", ".join(names))
    raise at_line(line, f"the fields are {what}.", "Name the one with the prompt `text`.", "no-prompt-field")


def _kind(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), "nothing")
