"""Text files from people: decoded, cut into CSV records or JSON lines; each fault has its line and remedy."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from headscope.errors import Invalid


def decoded(content: bytes) -> str:
    """The file as text without a byte-order mark; ``Invalid`` (not-utf-8, nul) names the line."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise Invalid("The file is UTF-16, not UTF-8.", "Save it as UTF-8.", code="not-utf-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # error.object may lack the byte-order mark, which has no line's end.
        line = error.object.count(b"\n", 0, error.start) + 1
        byte = error.object[error.start]
        raise Invalid(
            f"Line {line}: byte 0x{byte:02X} is not UTF-8.", "Save the file as UTF-8.", code="not-utf-8"
        ) from error
    if "\0" in text:
        raise at_line(
            text.count("\n", 0, text.index("\0")) + 1,
            "there is a NUL character.",
            "Save the file as UTF-8 text; it may be UTF-16 or binary.",
            "nul",
        )
    return text


def json_values(text: str, example: str) -> Iterator[tuple[int, Any]]:
    """What each line that isn't blank says, with its number; ``example`` shows how a line is written.

    Raises ``Invalid`` (json) for a line that isn't JSON or names a field twice, and for one list of all.
    """
    if text.lstrip()[:1] == "[":
        raise Invalid(
            "The file is one JSON list.", f"Write one object per line instead, like {example}.", code="json"
        )
    for line, source in enumerate(text.split("\n"), 1):  # not splitlines: strings may hold U+2028
        if not source.strip():
            continue
        try:
            yield line, json.loads(source, object_pairs_hook=_without_repeats)
        except (ValueError, RecursionError) as error:
            raise at_line(line, f"this isn't JSON: {error}.", f"Write it like {example}.", "json") from error


def csv_records(text: str) -> Iterator[tuple[int, list[str]]]:
    """Records that aren't blank, each with the line it begins on; raises ``Invalid`` (csv)."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    while True:
        line = reader.line_num + 1
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise at_line(line, *_csv_fault(str(error)), "csv") from error
        if record:
            yield line, record


def unstorable(text: str) -> str | None:
    """What keeps a string from being text: a NUL (Postgres keeps none) or half of a character; else None."""
    if "\0" in text:
        return "a NUL character"
    half = next((c for c in text if "\ud800" <= c <= "\udfff"), None)
    return f"half of a character (a lone surrogate, U+{ord(half):04X})" if half else None


def at_line(line: int, what: str, remedy: str, code: str) -> Invalid:
    """The error for a fault that stands on a line."""
    return Invalid(f"Line {line}: {what}", remedy, code=code)


def shortened(text: str) -> str:
    """A text in quotes, at most 60 characters of it."""
    return repr(text if len(text) <= 60 else text[:59] + "…")


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("a field appears twice")
    return values


def _csv_fault(said: str) -> tuple[str, str]:
    """What is wrong and what to do, for what the csv module says."""
    if "unexpected end of data" in said:
        what = "a double quote is opened and never closed."
    elif "field larger than" in said:
        limit = f"{csv.field_size_limit():,}"
        return f"a field has more than {limit} characters.", "Shorten it, or write JSON lines instead."
    else:
        what = f"this isn't CSV: {said}."
    return what, 'Within quoted fields, write a double quote as "".'
