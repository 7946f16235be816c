"""Where a fault stands: file, line and column, as the reader of a message looks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from headscope.errors import Invalid, Where

_LONGEST = 80


@dataclass(frozen=True)
class Place:
    """A place in a file. Lines and columns count from 1.

    In a table ``column`` is the field's number and ``field`` its name; in other text it is the character's.
    ``file`` is empty where the text was typed or pasted.
    """

    file: str
    line: int | None = None
    column: int | None = None
    field: str = ""

    def at(self, line: int, column: int | None = None, field: str = "") -> Place:
        """Another place in the same file."""
        return replace(self, line=line, column=column, field=field)

    def fault(
        self, what: str, remedy: str, code: str, remedies: Mapping[Where, str] | None = None
    ) -> Invalid:
        """The error for what is wrong here: ``rows.csv, line 3, column 2 (target): there is no target.``"""
        where = str(self)
        return Invalid(f"{where}: {what}" if where else what, remedy, code=code, remedies=remedies)

    def __str__(self) -> str:
        parts = [
            shortened(self.file, _LONGEST) if self.file else "",
            f"line {self.line}" if self.line is not None else "",
            f"column {self.column}" if self.column is not None else "",
        ]
        where = ", ".join(filter(None, parts)) + (f" ({shortened(self.field)})" if self.field else "")
        return where if self.file else where[:1].upper() + where[1:]


def shortened(text: str, longest: int = 60) -> str:
    """A text on one line, at most so many characters of it."""
    plain = "".join(c if c.isprintable() else " " for c in text)
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


def quoted(text: str) -> str:
    """A text in quotes, at most 60 characters of it."""
    return repr(text if len(text) <= 60 else text[:59] + "…")


def position(text: str, index: int) -> tuple[int, int]:
    """Line and column, from 1, of the character at ``index``; lines end with CR, LF or both."""
    before = text[:index].replace("\r\n", "\n").replace("\r", "\n")
    return before.count("\n") + 1, len(before) - before.rfind("\n")
