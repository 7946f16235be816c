"""A model folder comes to its place whole or not at all.

1. Work goes on in a folder ``.fetch-...`` beside the place where the model shall lie.
2. The folder is checked, then renamed to its place, in one step. What a killed process left is removed by the
   next: a lock on it ends with its process.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

if sys.platform != "win32":
    import fcntl

from headscope.core.model.folder import check, headscope_json
from headscope.core.model.revision import recorded, revision, revision_of_files
from headscope.core.model.weight_files import weight_files
from headscope.errors import Unavailable

_PACKAGED = ("package", "pypi")


@contextmanager
def in_place(to: Path, bytes_needed: int) -> Iterator[Path]:
    """A working folder beside ``to``, removed in the end; full disks become Unavailable."""
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        _sweep(to.parent)
        free = shutil.disk_usage(to.parent).free
        if free < bytes_needed:
            raise disk_full(
                to.parent, f"{free / 1e6:,.0f} MB are free, {bytes_needed / 1e6:,.0f} MB are needed"
            )
        prefix = ".fetch-"
        with (
            tempfile.TemporaryDirectory(prefix=prefix, dir=to.parent, ignore_cleanup_errors=True) as work,
            _locked(Path(work)),
        ):
            yield Path(work)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT) or "No space left" in str(error):
            raise disk_full(to.parent, str(error)) from error
        raise Unavailable(
            f"The model can't be saved in {to.parent}: {error}.", "Check that folder's permissions."
        ) from error


def finish(folder: Path, to: Path) -> None:
    """Check a complete folder and move it to its place in one step."""
    check(folder)
    for file in folder.iterdir():
        with file.open("rb") as stream:
            os.fsync(stream.fileno())
    try:
        folder.rename(to)
    except OSError:
        if not (to / "config.json").is_file():  # else another process was first, with the same files
            raise


def record(folder: Path, words: Mapping[str, str]) -> None:
    """Write headscope.json: what is known of the model in words, its revision and what that covers.

    A packaged model keeps the revision that shipped runs name, of when the weight files alone were hashed.
    """
    weight_bytes = sum(f.stat().st_size for f in weight_files(folder))
    named = revision_of_files(folder) if words.get("kind") in _PACKAGED else revision(folder)
    _write(folder, {**words, "revision": named, "weight_bytes": weight_bytes, **recorded(folder)})


def complete_record(folder: Path) -> None:
    """Add to a record of before what its revision covers, if its weights still are the recorded ones."""
    known = headscope_json(folder)
    if known.get("revision") and "parts" not in known and revision(folder) == known["revision"]:
        with suppress(OSError):  # a folder that can't be written to is hashed anew by each process
            _write(folder, {**known, **recorded(folder)})


def _write(folder: Path, content: Mapping[str, Any]) -> None:
    path = folder / "headscope.json"
    temporary = path.with_suffix(".json.part")
    temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    temporary.replace(path)


def _sweep(root: Path) -> None:
    """Remove what killed fetches left; a fetch that still runs holds its lock."""
    for left in root.glob(".fetch-*") if sys.platform != "win32" else ():
        try:
            with _locked(left):
                shutil.rmtree(left, ignore_errors=True)
        except OSError:  # locked by a process that lives, or gone already
            continue


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a folder's lock, without waiting. Raises OSError where another process holds it."""
    with (folder / "lock").open("a") as lock:
        if sys.platform != "win32":
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def disk_full(folder: Path, reason: str) -> Unavailable:
    """What is raised where a folder's disk has no room."""
    return Unavailable(
        f"There is no room in {folder}: {reason}.",
        "Free some space, or set HEADSCOPE_DATA_DIR to a larger disk; then fetch again.",
        code="disk-full",
    )
