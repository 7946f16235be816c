"""``hs.open``: a run's page in the browser, from a server that is there or from one that is started for it.

1. A run of a ``Client`` is on its server already.
2. Of this machine's store: a server on the settings' address is taken if it knows the run.
3. Otherwise ``headscope serve`` is started in the background, on that address or, where another program has
   the port, on a free one. It ends with this process.
"""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import sys
import threading
import webbrowser
from typing import IO

import httpx

from headscope.errors import Unavailable
from headscope.python.local import Local
from headscope.python.run import Run
from headscope.settings import Settings

PATIENCE = 60.0
"""Seconds for a server to start."""
ANSWER_SECONDS = 3.0
"""Seconds after which what listens on a port is taken for another program."""

_READY = re.compile(r"ready at (http://\S+)")
_STARTED: dict[Settings, tuple[str, subprocess.Popen[str]]] = {}
"""Address and process of the servers that this process has started, by their settings."""


def open(run: Run, *, browser: bool = True) -> str:  # noqa: A001 - hs.open(run)
    """Open a run's page and return its address; ``browser`` False only sees that it can be opened.

    Raises ``Unavailable`` (server-failed) where no server answers and none can be started.
    """
    source = run._source
    address = _serving(source, run) if isinstance(source, Local) else source.address
    url = f"{address}/runs/{run.id}"
    if browser:
        webbrowser.open(url)
    return url


def _serving(local: Local, run: Run) -> str:
    """The address of a server on this machine's store."""
    started, _ = _STARTED.get(local.settings, ("", None))
    if started and _knows(started, run, local.settings):
        return started
    knows = _knows(local.address, run, local.settings)
    if knows:
        return local.address
    _STARTED[local.settings] = _start(local.settings, local.settings.port if knows is None else 0)
    return _STARTED[local.settings][0]


@atexit.register
def stop_servers() -> None:
    """Stop the servers that ``hs.open`` has started, as the end of this process does."""
    while _STARTED:
        _stop(_STARTED.popitem()[1][1])


def _knows(address: str, run: Run, settings: Settings) -> bool | None:
    """Whether a server there has the run; None where nobody listens."""
    headers = {}
    if settings.token is not None:
        headers["Authorization"] = f"Bearer {settings.token.get_secret_value()}"
    try:
        with httpx.Client(trust_env=False, timeout=ANSWER_SECONDS) as http:
            return http.get(f"{address}/api/v1/runs/{run.id}", headers=headers).is_success
    except httpx.ConnectError:
        return None
    except httpx.HTTPError:
        return False


def _start(settings: Settings, port: int) -> tuple[str, subprocess.Popen[str]]:
    """Start a server on these settings; its address and its process."""
    given = settings.model_dump(mode="json", exclude_none=True, exclude={"token", "port", "allowed_hosts"})
    environment = {**os.environ, **{f"HEADSCOPE_{name.upper()}": str(value) for name, value in given.items()}}
    process = subprocess.Popen(
        [sys.executable, "-m", "headscope", "serve", "--port", str(port)],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said = _Said(process)
    if said.address is None:
        _stop(process)
        raise Unavailable(
            f"headscope serve could not be started: {said.last_line}",
            "Start it in a terminal, and open the run there.",
            code="server-failed",
        )
    return said.address, process


class _Said:
    """Reads what a server says, up to its address and on, so that it never waits for a reader."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.address: str | None = None
        self.last_line = "it said nothing."
        self._ready = threading.Event()
        assert process.stdout is not None  # noqa: S101
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()
        self._ready.wait(PATIENCE)

    def _read(self, lines: IO[str]) -> None:
        with lines:
            for line in lines:
                self.last_line = line.strip() or self.last_line
                if found := _READY.search(line):
                    self.address = found[1]
                    self._ready.set()
        self._ready.set()


def _stop(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
