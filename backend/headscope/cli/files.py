"""Files that commands read and write, with what to do where they can't."""

from __future__ import annotations

import sys
from pathlib import Path

from headscope.cli import console


def read(file: Path, limit: int, kinds: str) -> bytes:
    """A file's content; ``NotFound`` (file-unreadable), ``TooLarge`` beyond ``limit`` bytes.

    ``kinds`` says what is expected, e.g. "a JSONL or CSV file".
    """
    from headscope.errors import NotFound, TooLarge

    try:
        size = file.stat().st_size
        if size > limit:
            raise TooLarge(
                f"{file} has {size:,} bytes; at most {limit:,} are read.",
                "Take fewer rows, or raise HEADSCOPE_MAX_UPLOAD_BYTES.",
            )
        return file.read_bytes()
    except OSError as error:
        raise NotFound(
            f"{file} can't be read: {error.strerror}.", f"Name {kinds}.", code="file-unreadable"
        ) from error


def write(path: Path, content: bytes) -> None:
    """Write a file and say so, or write to stdout where it is called ``-``."""
    from headscope.errors import Unavailable

    if str(path) == "-":
        sys.stdout.buffer.write(content)
        return
    try:
        path.write_bytes(content)
    except OSError as error:
        raise Unavailable(
            f"{path} can't be written: {error.strerror}.",
            "Name another file with -o.",
            code="file-unwritable",
        ) from error
    console.err_console().print(f"Wrote {path} ({len(content):,} bytes).")
