"""The real ``headscope serve`` in a process of its own, on a free port and an empty data folder."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import psutil

_READY = re.compile(r"ready at (?P<url>http://\S+)")


class Server:
    """A running server: its ``url``, and ``started_in``, the seconds until its start line."""

    def __init__(self, data_dir: Path, *options: str, environment: Mapping[str, str] | None = None) -> None:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("HEADSCOPE_")}
        self._lines: list[str] = []
        self._ready = threading.Event()
        self.url = ""
        started = time.monotonic()
        command = [
            sys.executable,
            "-m",
            "headscope",
            "serve",
            "--port",
            "0",
            "--data-dir",
            str(data_dir),
            *options,
        ]
        self.process = subprocess.Popen(
            command,
            env={**kept, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._ready.wait(60) or not self.url:
            self.stop()
            raise RuntimeError(f"The server did not start:\n{self.output}")
        self.started_in = time.monotonic() - started

    @property
    def output(self) -> str:
        return "".join(self._lines)

    def worker_pid(self) -> int | None:
        """The process id of the worker that the server runs, if it is running."""
        children = psutil.Process(self.process.pid).children()
        return children[0].pid if children else None

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; returns the exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            code = self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self._reader.join(15)
        return code

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stream:
            for line in stream:
                self._lines.append(line)
                if found := _READY.search(line):
                    self.url = found["url"]
                    self._ready.set()
        self._ready.set()
