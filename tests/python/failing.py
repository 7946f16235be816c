"""A real server on a socket that fails as it is told to before it answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Fail = Callable[[BaseHTTPRequestHandler], None]


def breaks_off(handler: BaseHTTPRequestHandler) -> None:
    """Take the request, and say nothing."""
    handler.close_connection = True
    handler.connection.close()


def problem(status: int, code: str, **headers: str) -> Fail:
    """Answer as Headscope does where something is wrong."""

    def fail(handler: BaseHTTPRequestHandler) -> None:
        body = {"title": "No", "status": status, "code": code, "detail": "No.", "remedy": "Wait."}
        answer(handler, status, json.dumps(body).encode(), "application/problem+json", headers)

    return fail


def page(status: int, **headers: str) -> Fail:
    """Answer as a proxy does whose server is away."""

    def fail(handler: BaseHTTPRequestHandler) -> None:
        answer(handler, status, b"<h1>Bad gateway</h1>", "text/html", headers)

    return fail


def answer(
    handler: BaseHTTPRequestHandler, status: int, body: bytes, kind: str, headers: dict[str, str]
) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


@dataclass
class Failing:
    """Its ``url``, what it was asked, and how it fails next; then it answers ``good``."""

    failures: list[Fail]
    good: Any
    url: str = ""
    asked: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)

    def respond(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length") or 0)
        handler.rfile.read(length)
        self.asked.append((handler.command, handler.path, dict(handler.headers)))
        if self.failures:
            self.failures.pop(0)(handler)
        elif callable(self.good):
            self.good(handler)
        else:
            answer(handler, 200, json.dumps(self.good).encode(), "application/json", {})


@contextmanager
def failing(*failures: Fail, good: Any = None) -> Iterator[Failing]:
    told = Failing(list(failures), good)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            told.respond(self)

        do_POST = do_DELETE = do_GET

        def log_message(self, *words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    told.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
