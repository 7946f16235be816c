"""Server-sent events: a run as it changes, until it ends.

1. The run is read every 0.4 s; each difference is sent as event ``run`` with the run's JSON as data.
2. A final status ends the stream, and so does a run that is deleted meanwhile (event ``problem``).
3. A database that doesn't answer for a while is waited for; after ``PATIENCE`` it is a ``problem`` too.
4. A comment every 10 s keeps proxies from closing the connection.
A dead worker ends nothing: the run then carries a ``notice`` that says so.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Final

import anyio
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from headscope.errors import HeadscopeError, Unavailable
from headscope.web.schemas import RunOut

FINAL: Final = frozenset({"done", "failed", "cancelled"})
INTERVAL: Final = 0.4
KEEPALIVE: Final = 10.0
PATIENCE: Final = 30.0


class EventStream(StreamingResponse):
    """Events as they come; a reader that goes away ends it."""

    def __init__(self, events: AsyncIterator[str]) -> None:
        super().__init__(
            events,
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )


async def run_changes(load: Callable[[], RunOut], *, interval: float = INTERVAL) -> AsyncIterator[str]:
    """The events of one run; ``load`` reads it, from a thread."""
    sent, last_sent, last_answer = "", time.monotonic(), time.monotonic()
    while True:
        try:
            run = await run_in_threadpool(load)
        except Unavailable as error:
            if time.monotonic() - last_answer > PATIENCE:
                yield event("problem", json.dumps(error.problem()))
                return
        except HeadscopeError as error:
            yield event("problem", json.dumps(error.problem()))
            return
        else:
            last_answer = time.monotonic()
            if (text := run.model_dump_json()) != sent:
                yield event("run", text)
                sent, last_sent = text, last_answer
            if is_final(run):
                return
        if time.monotonic() - last_sent > KEEPALIVE:
            yield ": still here\n\n"
            last_sent = time.monotonic()
        await anyio.sleep(interval)


def is_final(run: RunOut) -> bool:
    """Whether nothing more will happen to it: neither the run nor a Reproduce of it is under way."""
    return run.status in FINAL and all(attempt.status in FINAL for attempt in run.attempts)


def event(name: str, data: str) -> str:
    """One event; JSON has no raw line breaks, so one data line holds it."""
    return f"event: {name}\ndata: {data}\n\n"
