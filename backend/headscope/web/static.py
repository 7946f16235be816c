"""The built front end: hashed assets are kept for ever, every page address gives the one page."""

from __future__ import annotations

import gzip
import hashlib
import threading
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, Response
from starlette.types import Receive, Scope, Send

STATIC: Final = Path(__file__).parent / "static"
# Named here because the system's own table differs between machines (Windows' registry, slim images).
MEDIA_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
_ALREADY_COMPRESSED: Final = frozenset({".png", ".woff2", ".ico"})
_NOT_BUILT: Final = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Headscope</title>
<h1>The front end isn't built</h1>
<p>The API works at <code>/api/v1</code>. To build the pages, run <code>pip install .</code> in the source
directory, or <code>npm ci &amp;&amp; npm run build</code> in <code>frontend</code>.</p></html>"""


@dataclass(frozen=True)
class Asset:
    """One file, read and compressed once. ``modified`` is its mtime in nanoseconds."""

    modified: int
    body: bytes
    compressed: bytes | None
    media_type: str
    etag: str


class FrontEnd:
    """An ASGI app for everything that no API route takes."""

    def __init__(self, folder: Path = STATIC) -> None:
        self.folder = folder.resolve()
        self._assets: dict[Path, Asset] = {}
        self._lock = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        path: str = scope["path"]
        if path == "/api" or path.startswith("/api/"):
            raise HTTPException(404)
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(405, headers={"Allow": "GET, HEAD"})
        await self.response(path, Headers(scope=scope))(scope, receive, send)

    def response(self, path: str, headers: Headers) -> Response:
        """The file at a path, or the page; a file that isn't there is a 404, not the page."""
        file = self.file(path)
        if file is not None:
            hashed = PurePosixPath(path).parts[1:2] == ("assets",)
            return self.answer(file, headers, "public, max-age=31536000, immutable" if hashed else "no-cache")
        if PurePosixPath(path).suffix in MEDIA_TYPES:
            raise HTTPException(404)
        page = self.file("/index.html")
        if page is None:
            return HTMLResponse(_NOT_BUILT, 503)
        return self.answer(page, headers, "no-cache")

    def file(self, path: str) -> Path | None:
        """The file at a path inside the folder; nothing outside it, no folders, no hidden files."""
        parts = PurePosixPath(path).parts[1:]
        if not parts or "\0" in path or any(part.startswith(".") for part in parts):
            return None
        file = self.folder.joinpath(*parts).resolve()
        return file if file.is_relative_to(self.folder) and file.is_file() else None

    def answer(self, file: Path, headers: Headers, cache: str) -> Response:
        asset = self.asset(file)
        common = {"Cache-Control": cache, "ETag": asset.etag, "Vary": "Accept-Encoding"}
        if asset.etag in headers.get("if-none-match", ""):
            return Response(status_code=304, headers=common)
        if asset.compressed is not None and "gzip" in headers.get("accept-encoding", ""):
            encoded = {**common, "Content-Encoding": "gzip"}
            return Response(asset.compressed, headers=encoded, media_type=asset.media_type)
        return Response(asset.body, headers=common, media_type=asset.media_type)

    def asset(self, file: Path) -> Asset:
        """Read a file again only when it has changed."""
        modified = file.stat().st_mtime_ns
        with self._lock:
            known = self._assets.get(file)
            if known is None or known.modified != modified:
                known = self._assets[file] = _read(file, modified)
            return known


def _read(file: Path, modified: int) -> Asset:
    body = file.read_bytes()
    small = file.suffix in _ALREADY_COMPRESSED or len(body) < 1024
    return Asset(
        modified=modified,
        body=body,
        compressed=None if small else gzip.compress(body, 6, mtime=0),
        media_type=MEDIA_TYPES.get(file.suffix, "application/octet-stream"),
        etag=f'"{hashlib.sha256(body).hexdigest()[:20]}"',
    )
