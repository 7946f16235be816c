"""A worker's name, the same again after a restart, so that it finds the runs it left unfinished.

Names are files in the data folder, each locked by the worker that bears it. A worker that starts takes the
first name that is free: that of one which ended, however it ended.
"""

from __future__ import annotations

import socket
import uuid
from pathlib import Path

from headscope.errors import Unavailable
from headscope.jobs.lock import FileLock

_MOST = 256


def take_name(folder: Path) -> tuple[str, FileLock]:
    """A name that nobody on this data folder bears now, and the lock that keeps it ours."""
    for number in range(_MOST):
        lock = FileLock(folder / f"worker-{number}")
        if lock.acquire():
            name = lock.note().strip()
            # Of another host on a shared folder: its process may live where this lock is not seen.
            if not name.startswith(f"{socket.gethostname()}-"):
                name = f"{socket.gethostname()}-{number}-{uuid.uuid4().hex[:8]}"
                lock.write(name)
            return name, lock
    raise Unavailable(
        f"{_MOST} workers run on this data folder already.",
        "End some, or set HEADSCOPE_DATA_DIR.",
        code="worker-names",
    )
