"""HTTP to a Headscope server: what passes is waited for, what is wrong is raised as the error it is.

1. A connection that fails is tried again, and one that breaks, where asking twice does no harm.
2. 429 and 503 that say when to come back (``Retry-After``) are waited for; so is a proxy's 502, 503, 504.
3. All waiting for one answer takes at most ``patience`` seconds; then the last error is raised.
4. ``application/problem+json`` becomes an error of ``headscope.errors``, by its status, with its code.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from headscope import __version__
from headscope.errors import HeadscopeError, Unavailable, from_problem

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""Seconds between tries where the server doesn't say."""

_PASSING = frozenset({502, 503, 504})
_NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class Transport:
    """Requests to one server under ``/api/v1``."""

    def __init__(self, base_url: str, token: str | None, *, timeout: float, patience: float) -> None:
        self.base_url = base_url.rstrip("/")
        self._patience = patience
        headers = {"User-Agent": f"headscope-python/{__version__}"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self._http = httpx.Client(
            base_url=f"{self.base_url}/api/v1",
            headers=headers,
            timeout=httpx.Timeout(timeout, connect=min(10.0, timeout)),
        )

    def send(self, method: str, path: str, *, repeatable: bool = True, **content: Any) -> httpx.Response:
        """The answer to a request. ``repeatable``: that asking twice does no harm, should an answer get lost.

        Raises the error that the server's problem tells of, ``Unavailable`` (unreachable) without an answer.
        """
        waiting = Waiting(self._patience)
        while True:
            try:
                response = self._http.request(method, path, **content)
            except httpx.TransportError as error:
                failure = self._unreachable(error)
                passing = isinstance(error, _NEVER_SENT) or (repeatable and not _too_slow(error))
                cause: Exception | None = error
            else:
                if response.is_success:
                    return response
                failure, passing, cause = *_refusal(response), None
            if not passing or not waiting.pause(failure.retry_after):
                raise failure from cause

    @contextmanager
    def stream(self, path: str, *, silence: float) -> Iterator[Iterator[str]]:
        """An answer's lines as they come; ``silence`` is how many seconds may pass between two.

        One try: raises what ``send`` raises, and httpx's errors once lines come.
        """
        timeout = httpx.Timeout(silence, connect=min(10.0, silence))
        with self._http.stream("GET", path, timeout=timeout) as response:
            if not response.is_success:
                response.read()
                raise _refusal(response)[0]
            yield response.iter_lines()

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def _unreachable(self, error: httpx.TransportError) -> HeadscopeError:
        return Unavailable(
            f"The server at {self.base_url} does not answer: {error or type(error).__name__}.",
            "See that it runs (`headscope serve`) and that its address and port are right.",
            code="unreachable",
        )


class Waiting:
    """Longer and longer pauses, at most ``patience`` seconds in all."""

    def __init__(self, patience: float) -> None:
        self._deadline = time.monotonic() + patience
        self._next = FIRST_PAUSE

    def pause(self, seconds: float | None = None) -> bool:
        """Wait as long as is asked for, or longer than last time; False where patience ends first."""
        wait = self._next if seconds is None else seconds
        if time.monotonic() + wait > self._deadline:
            return False
        time.sleep(wait)
        self._next = min(2 * self._next, LONGEST_PAUSE)
        return True


def _refusal(response: httpx.Response) -> tuple[HeadscopeError, bool]:
    """The error that an answer tells of, and whether it may pass."""
    status, wait = response.status_code, _seconds(response.headers.get("Retry-After"))
    if "problem+json" in response.headers.get("content-type", ""):
        return from_problem(response.json(), retry_after=wait), status in (429, 503) and wait is not None
    problem = {
        "status": status,
        "code": "http-error",
        "detail": f"{response.url} answered {status} {response.reason_phrase}.",
        "remedy": "See that the address is a Headscope server's, and what stands between it and here.",
    }
    return from_problem(problem, retry_after=wait), status in _PASSING or (status == 429 and wait is not None)


def _seconds(words: str | None) -> int | None:
    """Seconds that a Retry-After names, as a number or as a date."""
    if words is None:
        return None
    if words.strip().isdigit():
        return int(words)
    try:
        moment = parsedate_to_datetime(words)
    except ValueError:
        return None
    return max(0, round((moment - datetime.now(UTC)).total_seconds())) if moment.tzinfo else None


def _too_slow(error: httpx.TransportError) -> bool:
    return isinstance(error, httpx.TimeoutException)
