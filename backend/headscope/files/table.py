"""Tables from people: CSV with any of four separators, found in the file or refused.

1. ``sep=;`` in a first line, as Excel writes it, names the separator.
2. Else it is the one by which the first line names the columns that are looked for.
3. Else it is the one that cuts every line into the same number of fields, two or more.
4. Where none does there is one column; where several do the table is refused.

A field may stand in double quotes, with spaces before and after them; quotes within are doubled. Lines end
with CR, LF or both; blank ones are passed over. Every line has as many fields as the first.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from headscope.errors import Invalid
from headscope.files.place import Place, position, quoted

SEPARATORS: Final = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_EVIDENCE: Final = 500
"""Lines from which the separator is told."""

_NAMED = re.compile(r"sep=(.)(?:\r\n|\n|\r|\Z)")
_QUOTED = re.compile(r' *"((?:[^"]++|"")*+)("?) *')
_PLAIN = {mark: re.compile(rf"[^\r\n{re.escape(mark)}]*") for mark in SEPARATORS}
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class Record:
    """The fields of one row, and the line it begins on. ``bare`` fields stand without quotes."""

    line: int
    fields: tuple[str, ...]
    bare: bool = True


@dataclass(frozen=True)
class Table:
    """A table whose first record is ``header``; the others are read as they are asked for."""

    file: str
    separator: str
    header: Record
    _rest: Iterator[Record]

    @property
    def names(self) -> list[str]:
        """The header's names in small letters, without space around them."""
        return _names(self.header)

    def rows(self) -> Iterator[Record]:
        """Every record below the header; ``Invalid`` (csv, csv-fields) names what is no row of this table."""
        wide = len(self.header.fields)
        for record in self._rest:
            if len(record.fields) == wide:
                yield record
            elif not _blank(record):
                raise self._ragged(record)

    def place(self, record: Record, column: int | None = None) -> Place:
        """Where a record, or its field number ``column`` from 0, stands."""
        if column is None:
            return Place(self.file, record.line)
        name = self.header.fields[column].strip() if column < len(self.header.fields) else ""
        return Place(self.file, record.line, column + 1, name)

    def _ragged(self, record: Record) -> Invalid:
        found, wide = len(record.fields), len(self.header.fields)
        if found < wide:
            remedy = f"Give every line all {wide} columns, separated by {SEPARATORS[self.separator]}."
        else:
            remedy = (
                f"Put a field that holds {SEPARATORS[self.separator]} in double quotes, like "
                f'"a{self.separator} b", and double the quotes within it.'
            ).replace("\t", " ")
        what = f"{_count(found)}, the first line has {wide}."
        return self.place(record, min(found, wide)).fault(what, remedy, "csv-fields")


def read_table(file: str, text: str, headers: Sequence[Collection[str]]) -> Table | None:
    """The table in a text, None where there is none; ``headers`` are names that one of these kinds must have.

    Raises ``Invalid``: csv-separator where several separators fit, csv for quotes that don't close.
    """
    named = _NAMED.match(text)
    start = 0
    if named and named[1] in SEPARATORS:
        separator, start = named[1], named.end()
    else:
        separator = _separator(file, text, headers)
    found = _records(file, text, separator, start)
    header = next(found, None)
    return None if header is None else Table(file, separator, header, found)


def _separator(file: str, text: str, headers: Sequence[Collection[str]]) -> str:
    samples = {mark: _sample(file, text, mark) for mark in SEPARATORS}
    for one_column in (False, True):
        for mark, sample in samples.items():
            if sample and (len(sample[0].fields) == 1) == one_column and _fits(sample[0], headers):
                return mark
    even = [mark for mark, sample in samples.items() if _even(sample)]
    if len(even) > 1:
        which = " and ".join(SEPARATORS[mark] for mark in even)
        raise Place(file, samples[even[0]][0].line).fault(
            f"{which} cut the lines into columns equally well.",
            "Name the columns in the first line, or put fields in double quotes.",
            "csv-separator",
        )
    return even[0] if even else ","


def _sample(file: str, text: str, mark: str) -> list[Record]:
    """The first records by one separator, up to a fault: it is told where the table is read."""
    found: list[Record] = []
    try:
        for record in islice(_records(file, text, mark, 0), _EVIDENCE):
            found.append(record)
    except Invalid:
        pass
    return found


def _fits(header: Record, headers: Sequence[Collection[str]]) -> bool:
    return any(set(names) <= set(_names(header)) for names in headers)


def _even(sample: Sequence[Record]) -> bool:
    widths = {len(record.fields) for record in sample}
    return len(widths) == 1 and widths != {1}


def _blank(record: Record) -> bool:
    """Whether a record is a line of nothing but white space."""
    return record.bare and len(record.fields) == 1 and not record.fields[0].strip()


def _names(record: Record) -> list[str]:
    return [name.strip().lower() for name in record.fields]


def _records(file: str, text: str, separator: str, at: int) -> Iterator[Record]:
    """The records from a character on, blank lines left out."""
    plain, line = _PLAIN[separator], 1 + len(_LINE_END.findall(text, 0, at))
    while at < len(text):
        fields: list[str] = []
        begins, bare = line, True
        while True:
            match = _QUOTED.match(text, at)
            if match:
                _check_quotes(file, text, match, separator)
                bare = False
                field = match[1].replace('""', '"')
                line += len(_LINE_END.findall(match[1]))
            else:
                match = plain.match(text, at)
                assert match  # noqa: S101 - it matches nothing, too
                field = match[0]
            fields.append(field)
            at = match.end()
            if text[at : at + 1] != separator:
                break
            at += 1
        at = end.end() if (end := _LINE_END.match(text, at)) else at
        line += 1
        if not bare or fields != [""]:
            yield Record(begins, tuple(fields), bare)


def _check_quotes(file: str, text: str, match: re.Match[str], separator: str) -> None:
    remedy = 'Within quoted fields, write a double quote as "".'
    if not match[2]:
        place = Place(file, *position(text, match.start(1) - 1))
        raise place.fault("a double quote is opened and never closed.", remedy, "csv")
    after = text[match.end() : match.end() + 1]
    if after not in ("", separator, "\r", "\n"):
        place = Place(file, *position(text, match.end()))
        raise place.fault(f"{quoted(after)} stands after a closing double quote.", remedy, "csv")


def _count(fields: int) -> str:
    return f"{fields} column{'' if fields == 1 else 's'}"
