"""A file's bytes as text: UTF-8, or UTF-16 and UTF-32 where a mark or the bytes themselves show it."""

from __future__ import annotations

import codecs
import unicodedata
from typing import Final

from headscope.errors import TooLarge
from headscope.files.place import Place, position

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins as UTF-16's does
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_EVIDENT: Final = 0.4
"""Share of every second byte that is zero in UTF-16 of which a good part is ASCII."""


def decoded(file: str, content: bytes) -> str:
    """The file as text without a byte-order mark, line ends as they are.

    Raises ``Invalid``: not-utf-8 and nul name the line and the column.
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _decoded(file, content[len(mark) :], encoding)
    return _decoded(file, content, _unmarked(content))


def check_size(file: str, content: bytes, most: int) -> None:
    """``TooLarge`` beyond so many bytes."""
    if len(content) > most:
        raise TooLarge(
            f"{file or 'The file'} has {len(content):,} bytes, at most {most:,} are taken.",
            "Split it into several files, or raise HEADSCOPE_MAX_UPLOAD_BYTES where Headscope runs.",
            remedies={"page": "Split it into several files, or ask whoever runs this server for more."},
        )


def unstorable(text: str) -> str | None:
    """What keeps a string from being text: a NUL (Postgres keeps none) or half of a character; else None."""
    if "\0" in text:
        return "a NUL character"
    half = next((c for c in text if "\ud800" <= c <= "\udfff"), None)
    return f"half of a character (a lone surrogate, U+{ord(half):04X})" if half else None


def _decoded(file: str, content: bytes, encoding: str) -> str:
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        before = content[: error.start].decode(encoding, errors="replace")
        what = f"byte 0x{content[error.start]:02X} is not {encoding.upper()[:6].rstrip('-')}."
        raise Place(file, *position(before, len(before))).fault(
            what, "Save the file as UTF-8; a spreadsheet calls it “CSV UTF-8”.", "not-utf-8"
        ) from error
    if "\0" in text:
        raise Place(file, *position(text, text.index("\0"))).fault(
            "there is a NUL character.", "Save the file as UTF-8 text; it may be binary.", "nul"
        )
    return text


def _unmarked(content: bytes) -> str:
    """UTF-16 without its mark has a zero in every ASCII character, always on the same side."""
    sides = [content[start::2].count(0) for start in (0, 1)]
    if len(content) % 2 or not any(sides) or all(sides):
        return "utf-8"
    encoding = "utf-16-be" if sides[0] else "utf-16-le"
    evident = max(sides) >= _EVIDENT * len(content) / 2 or not _is(content, "utf-8")
    return encoding if evident and _is(content, encoding) else "utf-8"


def _is(content: bytes, encoding: str) -> bool:
    """Whether bytes are text in an encoding: no control characters, nothing that is no character."""
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return False
    kinds = {unicodedata.category(c) for c in set(text) - set("\t\n\r")}
    return not kinds & ({"Cc", "Cn", "Co"} if encoding != "utf-8" else set())
