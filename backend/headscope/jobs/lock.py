"""A file that one process at a time holds; the system frees it when that process ends, however it ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path


class FileLock:
    """A lock with a note of who holds it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None

    def acquire(self, note: str = "") -> bool:
        """Take it if it is free, without waiting; whether it is ours now."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(file)
        except OSError:
            os.close(file)
            return False
        self._file = file
        if note:
            self.write(note)
        return True

    def write(self, note: str) -> None:
        """Note who we are; only while it is ours."""
        if self._file is not None:
            os.ftruncate(self._file, 0)
            os.lseek(self._file, 0, os.SEEK_SET)
            os.write(self._file, note.encode())

    def note(self) -> str:
        """What its holder, or the last one, wrote into it."""
        try:
            return self.path.read_text()
        except OSError:
            return ""

    def release(self) -> None:
        """Let go of it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> None:
        os.lseek(file, 2**30, os.SEEK_SET)  # far behind the note, which stays readable
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
