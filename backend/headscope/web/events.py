"""Server-sent events: a run as it changes, until it ends.

1. The run is read every 0.4 s; each difference is sent as event ``run`` with the run's JSON as data.
2. A final status ends the stream, and so does a run that is deleted meanwhile (event ``problem``).
3. A database that doesn't answer for a while is waited for; after ``PATIENCE`` it is a ``problem`` too.
A dead worker ends nothing: the run then carries a ``notice`` that says so. FastAPI frames the events and
keeps idle connections open with comments.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from typing import Final

import anyio
from fastapi.sse import ServerSentEvent
from starlette.concurrency import run_in_threadpool

from headscope.errors import HeadscopeError, Unavailable
from headscope.web.schemas import RunOut

FINAL: Final = frozenset({"done", "failed", "cancelled"})
INTERVAL: Final = 0.4
PATIENCE: Final = 30.0


async def run_changes(
    load: Callable[[], RunOut], *, interval: float = INTERVAL
) -> AsyncIterator[ServerSentEvent]:
    """The events of one run; ``load`` reads it, from a thread."""
    sent, last_answer = "", time.monotonic()
    while True:
        try:
            run = await run_in_threadpool(load)
        except Unavailable as error:
            if time.monotonic() - last_answer > PATIENCE:
                yield ServerSentEvent(event="problem", data=error.problem())
                return
        except HeadscopeError as error:
            yield ServerSentEvent(event="problem", data=error.problem())
            return
        else:
            last_answer = time.monotonic()
            if (text := run.model_dump_json()) != sent:
                yield ServerSentEvent(event="run", raw_data=text)
                sent = text
            if is_final(run):
                return
        await anyio.sleep(interval)


def is_final(run: RunOut) -> bool:
    """Whether nothing more will happen to it: neither the run nor a Reproduce of it is under way."""
    return run.status in FINAL and all(attempt.status in FINAL for attempt in run.attempts)
