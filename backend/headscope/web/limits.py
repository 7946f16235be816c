"""How large a request's body may be, counted while it streams in."""

from __future__ import annotations

import time
from typing import Final

from starlette.datastructures import Headers, UploadFile
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from headscope.errors import TooLarge
from headscope.web.problems import ProblemResponse, read_where

FORM_OVERHEAD: Final = 64 * 1024
"""Bytes that a multipart form may add to its file: boundaries, names, the template."""
_SEND_LESS: Final = "Send a smaller file, or raise HEADSCOPE_MAX_UPLOAD_BYTES on the server."
_ASK: Final = "Split it into several files, or ask whoever runs this server for more."
_DRAIN_BYTES: Final = 128 * 2**20
_DRAIN_SECONDS: Final = 20.0


class BodyLimit:
    """Answers 413 to a body over ``limit`` bytes, whether its length was announced or not.

    The rest of the body is read and thrown away, within bounds: a sender that is cut off while it sends sees
    a broken connection instead of the answer.
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app = app
        self.limit = limit + FORM_OVERHEAD
        self.message = f"The request is larger than {describe_bytes(limit)}."

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if announced(scope) > self.limit:
            await self.refuse(scope, receive, send, more=True)
            return
        seen, more, over, started = 0, True, False, False

        async def counted() -> Message:
            nonlocal seen, more, over
            message = await receive()
            seen += len(message.get("body", b""))
            more = message.get("more_body", False)
            if seen > self.limit:
                over = True
                raise HTTPException(413, self.message)
            return message

        async def send_unless_over(message: Message) -> None:
            nonlocal started
            if over and not started:
                return
            started = True
            await send(message)

        try:
            await self.app(scope, counted, send_unless_over)
        except HTTPException:
            if not over:
                raise
        if over and not started:
            await self.refuse(scope, receive, send, more)

    async def refuse(self, scope: Scope, receive: Receive, send: Send, more: bool) -> None:
        if more:
            await drain(receive)
        error = TooLarge(self.message, _SEND_LESS, remedies={"page": _ASK})
        where = read_where(Headers(scope=scope))
        await ProblemResponse(error, {"Connection": "close"}, where)(scope, receive, send)


def read_upload(file: UploadFile, limit: int) -> bytes:
    """An uploaded file's content; ``TooLarge`` beyond ``limit`` bytes."""
    content = file.file.read(limit + 1)
    if len(content) > limit:
        raise TooLarge(
            f"{file.filename or 'The file'} is larger than {describe_bytes(limit)}.",
            _SEND_LESS,
            remedies={"page": _ASK},
        )
    return content


async def drain(receive: Receive) -> None:
    """Read a body to its end, or to the bounds."""
    left, until, more = _DRAIN_BYTES, time.monotonic() + _DRAIN_SECONDS, True
    while more and left > 0 and time.monotonic() < until:
        message = await receive()
        left -= len(message.get("body", b""))
        more = message["type"] == "http.request" and message.get("more_body", False)


def announced(scope: Scope) -> int:
    """Content-Length in bytes; 0 where it isn't said."""
    value = Headers(scope=scope).get("content-length", "0")
    return int(value) if value.isdecimal() else 0


def describe_bytes(count: int) -> str:
    """10485760 -> ``10.5 MB``."""
    return f"{count / 1e6:.3g} MB" if count >= 1e6 else f"{count / 1e3:.3g} kB"
