"""Who may use the server: anyone on loopback, beyond it whoever holds the operator's token.

A program sends ``Authorization: Bearer TOKEN``. A browser exchanges the token once for a cookie, which holds
an expiry and its HMAC under the token: nothing is stored, and a new token ends every session.
"""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, Literal

from starlette.requests import HTTPConnection

from headscope.errors import Refused, SignInNeeded, TooManyAttempts
from headscope.settings import Settings
from headscope.web.origin import is_loopback

COOKIE: Final = "headscope_session"
SESSION_SECONDS: Final = 30 * 24 * 3600
_FAILURES: Final = 10
_WINDOW_SECONDS: Final = 60.0
_ADDRESSES: Final = 10_000

AccessState = Literal["open", "signed-in", "sign-in-needed"]


def check_exposure(settings: Settings) -> None:
    """Raise ``Refused`` (token-required) where others could reach the server without a token."""
    if _token(settings) is not None:
        return
    beyond = [host for host in (settings.host, *settings.allowed_hosts) if not is_loopback(host)]
    if beyond:
        raise Refused(
            f"Listening as {beyond[0]} would open this server to others without an access token.",
            "Set HEADSCOPE_TOKEN to a long random word, or listen on 127.0.0.1.",
            code="token-required",
        )


class Access:
    """Tells who a request comes from. ``clock`` gives Unix seconds."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        self._token = _token(settings)
        self._clock = clock
        self._failures = Failures(clock)

    @property
    def needs_token(self) -> bool:
        return self._token is not None

    def of(self, connection: HTTPConnection) -> AccessState:
        """The access a request has. Raises ``SignInNeeded`` for a wrong token, and ``TooManyAttempts``."""
        if self._token is None:
            return "open"
        scheme, _, bearer = connection.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            self.check(bearer.strip(), client(connection))
            return "signed-in"
        return "signed-in" if self.session_is_valid(connection.cookies.get(COOKIE, "")) else "sign-in-needed"

    def check(self, presented: str, address: str) -> None:
        """Compare a token in constant time; wrong ones are counted for the address they come from."""
        if self._token is None:
            return
        self._failures.refuse_if_many(address)
        if not hmac.compare_digest(_digest(presented), _digest(self._token)):
            self._failures.count(address)
            raise SignInNeeded(
                "The access token is wrong.", "The operator has it as HEADSCOPE_TOKEN.", code="wrong-token"
            )
        self._failures.forget(address)

    def session(self) -> str:
        """A cookie's value, valid for ``SESSION_SECONDS``."""
        expires = str(int(self._clock()) + SESSION_SECONDS)
        return f"{expires}.{self._signature(expires)}"

    def session_is_valid(self, value: str) -> bool:
        expires, _, signature = value.partition(".")
        if not hmac.compare_digest(signature.encode(), self._signature(expires).encode()):
            return False
        return int(expires) > self._clock()

    def _signature(self, expires: str) -> str:
        key = _digest(self._token or "")
        return hmac.new(key, f"headscope session {expires}".encode(), hashlib.sha256).hexdigest()


class Failures:
    """Wrong tokens per address: after ten within a minute, the address waits."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._times: OrderedDict[str, list[float]] = OrderedDict()

    def refuse_if_many(self, address: str) -> None:
        with self._lock:
            if len(self._recent(address)) >= _FAILURES:
                raise TooManyAttempts(
                    "There were too many wrong access tokens from your address.",
                    "Wait a minute and try again.",
                )

    def count(self, address: str) -> None:
        with self._lock:
            self._times[address] = [*self._recent(address), self._clock()]
            self._times.move_to_end(address)
            while len(self._times) > _ADDRESSES:
                self._times.popitem(last=False)

    def forget(self, address: str) -> None:
        with self._lock:
            self._times.pop(address, None)

    def _recent(self, address: str) -> list[float]:
        since = self._clock() - _WINDOW_SECONDS
        return [moment for moment in self._times.get(address, []) if moment > since]


def client(connection: HTTPConnection) -> str:
    """The address a request comes from, as the server sees it."""
    return connection.client.host if connection.client else "unknown"


def sign_in_needed() -> SignInNeeded:
    """What a reader without access gets."""
    return SignInNeeded(
        "This server asks for its access token.",
        "Sign in on the page, or send `Authorization: Bearer` with the operator's HEADSCOPE_TOKEN.",
    )


def _token(settings: Settings) -> str | None:
    value = settings.token.get_secret_value().strip() if settings.token else ""
    return value or None


def _digest(text: str) -> bytes:
    # Equal lengths, so that the comparison's time says nothing about the token's length.
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).digest()
