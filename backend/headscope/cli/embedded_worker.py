"""The one worker that ``headscope serve`` keeps running beside itself.

1. The worker is a child process: a crash or an out-of-memory kill takes no page down.
2. A child that ends is started again, at once the first time and then ever later up to 30 s; the jobs it
   held go on from their last finished piece.
3. The child ends with its parent, also after kill -9: it is told the parent's process id and watches it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping

_LONGEST_PAUSE = 30.0
_STEADY = 60.0
_GRACE = 8.0


class EmbeddedWorker:
    """A supervised ``headscope worker``; ``stop`` ends it within seconds."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = {**os.environ, **environment}
        self._stopping = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None
        self._watcher = threading.Thread(target=self._keep_running, name="embedded-worker", daemon=True)

    def start(self) -> None:
        """Start the child and the thread that watches it."""
        self._watcher.start()

    def stop(self) -> None:
        """Ask the child to end; insist after a few seconds."""
        self._stopping.set()
        child = self._child
        if child is not None and child.poll() is None:
            child.terminate()
            try:
                child.wait(_GRACE)
            except subprocess.TimeoutExpired:
                child.kill()
        self._watcher.join(_GRACE)

    def _keep_running(self) -> None:
        pause = 0.0
        while not self._stopping.wait(pause):
            started = time.monotonic()
            self._child = self._spawn()
            if self._stopping.is_set():  # stop() may have come between the check and the start
                self._child.terminate()
            code = self._child.wait()
            if self._stopping.is_set():
                return
            steady = time.monotonic() - started > _STEADY
            pause = 0.5 if steady or pause == 0.0 else min(2 * pause, _LONGEST_PAUSE)
            sys.stderr.write(f"The worker ended ({_reason(code)}); restarting it in {pause:g} s.\n")

    def _spawn(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "headscope", "worker", "--parent-pid", str(os.getpid())]
        # A session of its own: Ctrl-C reaches the server alone, which then ends the worker in order.
        return subprocess.Popen(
            command, env=self._environment, stdin=subprocess.DEVNULL, start_new_session=True
        )


def _reason(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit {code}"
