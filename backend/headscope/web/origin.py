"""Host and Origin: a page of another site must neither read this server nor act through its reader's browser.

1. The Host header must name this server. A foreign name that resolves here (DNS rebinding) is refused.
2. A request with an Origin must come from a page of this server; "null" (sandboxes, files) never does.
3. A browser that sends no Origin says ``Sec-Fetch-Site``: nothing but this server's pages may change things.
"""

from __future__ import annotations

import ipaddress
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from headscope.errors import Forbidden
from headscope.settings import Settings
from headscope.web.problems import ProblemResponse

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_PORTS: Final = {"http": 80, "https": 443}


def is_loopback(host: str) -> bool:
    """Whether a name or address reaches this machine only."""
    if host.lower() == "localhost":
        return True
    address = _address(host)
    return address is not None and address.is_loopback


class HostAndOrigin:
    """Refuses requests whose Host or Origin isn't this server's, before anything reads them."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app = app
        self.named = frozenset(name.lower() for name in settings.allowed_hosts)
        self.hosts = LOOPBACK | {settings.host.lower()} | self.named
        # A numeric address can't be rebound; a server on all interfaces is reached by any of them.
        address = _address(settings.host)
        self.any_address = address is not None and address.is_unspecified

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self.refusal(scope) if scope["type"] == "http" else None
        if refusal is not None:
            await ProblemResponse(refusal)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def refusal(self, scope: Scope) -> Forbidden | None:
        """Why this request is refused, or None."""
        headers = Headers(scope=scope)
        host, port = split_host(headers.get("host", ""))
        if not self.knows(host):
            return Forbidden(
                f"This server isn't known as {host or 'nothing'}.",
                "Use the address it printed at start, or add the name to HEADSCOPE_ALLOWED_HOSTS.",
                code="host-not-allowed",
            )
        if not self.same_origin(headers, scope["method"], host, port):
            return Forbidden(
                "This request comes from a page of another site.",
                "Open Headscope itself and do it there; behind a proxy, pass the Host header on.",
                code="origin-not-allowed",
            )
        return None

    def knows(self, host: str) -> bool:
        return host in self.hosts or (self.any_address and _address(host) is not None)

    def same_origin(self, headers: Headers, method: str, host: str, port: int | None) -> bool:
        origin = headers.get("origin")
        if origin is None:
            return method in _SAFE or headers.get("sec-fetch-site", "same-origin") in ("same-origin", "none")
        try:
            parts = urlsplit(origin)
            origin_host = (parts.hostname or "").lower()
            origin_port = parts.port or _PORTS.get(parts.scheme)
        except ValueError:
            return False
        # A proxy may drop the port from the Host that it passes on.
        same = origin_host == host and port in (None, origin_port)
        return bool(origin_host) and (same or origin_host in self.named)


def split_host(value: str) -> tuple[str, int | None]:
    """``Host`` header -> lower-case name or address, and port; ("", None) where malformed."""
    try:
        parts = urlsplit(f"//{value}")
        if parts.username is not None or parts.path or parts.query or parts.fragment:
            return "", None
        return (parts.hostname or "").lower().rstrip("."), parts.port
    except ValueError:
        return "", None


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
