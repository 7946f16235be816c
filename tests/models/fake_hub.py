"""A hub on this machine: the few routes of its API that a download uses, over a folder of models."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class _Hub(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, models: dict[str, Path], gated: frozenset[str], *args: object) -> None:
        self.models, self.gated = models, gated
        super().__init__(*args)  # type: ignore[arg-type]

    def log_message(self, *_: object) -> None:
        """Nothing on the test's terminal."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path = self.path.split("?")[0].strip("/")
        if path.startswith("api/models/"):
            _, _, owner, repo, *more = path.split("/")
            if more[:1] == ["tree"]:
                self._tree(f"{owner}/{repo}")
            else:
                self._model(f"{owner}/{repo}")
            return
        name, _, file = path.partition("/resolve/")
        if name in self.gated:
            self._send(403, b"gated", {"X-Error-Code": "GatedRepo"})
            return
        found = self.models[name] / file.partition("/")[2]
        content = found.read_bytes()
        etag = hashlib.sha256(content).hexdigest()
        self._send(200, content, {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT})

    def _model(self, name: str) -> None:
        if name not in self.models:
            self._send(404, b"", {"X-Error-Code": "RepoNotFound"})
            return
        files = [f for f in sorted(self.models[name].rglob("*")) if f.is_file()]
        told = {"id": name, "sha": COMMIT, "private": False, "cardData": {"license": "apache-2.0"}}
        told["siblings"] = [
            {"rfilename": str(f.relative_to(self.models[name])), "size": f.stat().st_size} for f in files
        ]
        self._send(200, json.dumps(told).encode(), {"Content-Type": "application/json"})

    def _tree(self, name: str) -> None:
        files = [f for f in sorted(self.models[name].rglob("*")) if f.is_file()]
        told = [
            {
                "type": "file",
                "path": str(f.relative_to(self.models[name])),
                "size": f.stat().st_size,
                "oid": "0" * 40,
            }
            for f in files
        ]
        self._send(200, json.dumps(told).encode(), {"Content-Type": "application/json"})

    def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)


@contextmanager
def hub(models: dict[str, Path], gated: frozenset[str] = frozenset()) -> Iterator[str]:
    """Serve these folders by their names; gives the address for HF_ENDPOINT."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Hub, models, gated))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
