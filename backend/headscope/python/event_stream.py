"""A run on a server as it changes: its events, taken up again where the stream breaks.

1. ``GET /runs/{id}/events`` sends the run at each change and ends with it.
2. Where the stream breaks, or nothing comes for 30 s (the server sends a sign of life every 10), it is opened
   again after a pause that grows; the first event then tells what was missed.
3. A server that stays away for ``patience`` seconds ends it with ``Unavailable``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx

from headscope.errors import Unavailable, from_problem
from headscope.python.transport import Transport, Waiting

if TYPE_CHECKING:
    from headscope.web.schemas import RunOut

SILENCE = 30.0
FINAL = frozenset({"done", "failed", "cancelled"})


def follow(http: Transport, run_id: str, *, patience: float, timeout: float | None) -> Iterator[RunOut]:
    """The run at each change until it has ended; ``TimeoutError`` after ``timeout`` seconds."""
    deadline = None if timeout is None else time.monotonic() + timeout
    waiting = Waiting(patience)
    while True:
        try:
            with http.stream(f"/runs/{run_id}/events", silence=_left(deadline, run_id)) as lines:
                for known in _runs(_in_time(lines, deadline, run_id)):
                    waiting = Waiting(patience)
                    yield known
                    if ended(known):
                        return
        except (httpx.TransportError, Unavailable) as error:
            _left(deadline, run_id)
            if not waiting.pause(getattr(error, "retry_after", None)):
                raise _gone(http, error) from error


def ended(known: RunOut) -> bool:
    """Whether nothing more will happen to it: neither the run nor another attempt at it is under way."""
    return known.status in FINAL and all(attempt.status in FINAL for attempt in known.attempts)


def _left(deadline: float | None, run_id: str) -> float:
    """Seconds until something must come. Raises ``TimeoutError`` beyond the deadline."""
    if deadline is None:
        return SILENCE
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError(f"Run {run_id} goes on: it hasn't ended in the time given.")
    return min(SILENCE, left)


def _in_time(lines: Iterator[str], deadline: float | None, run_id: str) -> Iterator[str]:
    """The lines, signs of life among them, until the deadline."""
    for line in lines:
        yield line
        _left(deadline, run_id)


def _runs(lines: Iterator[str]) -> Iterator[RunOut]:
    """The runs that a stream of server-sent events tells of; raises the problem that ends one."""
    from headscope.web.schemas import RunOut

    name, data = "", ""
    for line in lines:
        field, _, value = line.partition(":")
        if field == "event":
            name = value.strip()
        elif field == "data":
            data += value.strip()
        elif not line and data:
            content = json.loads(data)
            if name == "problem":
                raise from_problem(content)
            yield RunOut.model_validate(content, extra="ignore")
            name, data = "", ""


def _gone(http: Transport, error: Exception) -> Exception:
    if isinstance(error, Unavailable):
        return error
    return Unavailable(
        f"The server at {http.base_url} does not answer any more: {error}.",
        "The run goes on there; ask for it again by its id when the server is back.",
        code="unreachable",
    )
