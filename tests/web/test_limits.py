"""Bodies are bounded while they stream in, announced or not; whoever sends too much is answered."""

from __future__ import annotations

from collections.abc import Iterator

import anyio
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from headscope.settings import Settings
from headscope.web.limits import FORM_OVERHEAD, BodyLimit, describe_bytes
from web.conftest import browser

LIMIT = 1000
ALLOWED = LIMIT + FORM_OVERHEAD


async def reading(scope: Scope, receive: Receive, send: Send) -> None:
    """An app that reads its body and says how much it was."""
    count, more = 0, True
    while more:
        message = await receive()
        count += len(message.get("body", b""))
        more = message.get("more_body", False)
    await PlainTextResponse(str(count))(scope, receive, send)


def status(chunks: list[bytes], headers: list[tuple[bytes, bytes]] | None = None) -> int:
    sent: list[Message] = []
    coming: Iterator[Message] = iter(
        {"type": "http.request", "body": chunk, "more_body": i + 1 < len(chunks)}
        for i, chunk in enumerate(chunks)
    )

    async def receive() -> Message:
        return next(coming, {"type": "http.disconnect"})

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/", "headers": headers or []}
    anyio.run(BodyLimit(reading, LIMIT), scope, receive, send)
    return int(sent[0]["status"])


def test_a_body_up_to_the_limit_passes() -> None:
    assert status([b"x" * ALLOWED]) == 200


def test_a_body_over_the_limit_is_refused_though_no_length_was_announced() -> None:
    assert status([b"x" * 1024] * (ALLOWED // 1024 + 1)) == 413


def test_an_announced_length_is_refused_before_the_app_reads() -> None:
    assert status([b"x"], [(b"content-length", str(ALLOWED + 1).encode())]) == 413
    assert status([b"x"], [(b"content-length", b"-1")]) == 200


@pytest.mark.parametrize("announced", [True, False])
def test_fifty_megabytes(bare: Settings, announced: bool) -> None:
    chunk = b"x" * 2**20
    content = chunk * 50 if announced else (chunk for _ in range(50))
    with browser(bare) as client:
        answer = client.post(
            "/api/v1/tasks", content=content, headers={"Content-Type": "multipart/form-data; boundary=b"}
        )
    assert answer.status_code == 413
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "too-large"
    assert "10.5 MB" in answer.json()["detail"]
    assert "HEADSCOPE_MAX_UPLOAD_BYTES" in answer.json()["remedy"]


def test_sizes_in_words() -> None:
    assert describe_bytes(10 * 2**20) == "10.5 MB"
    assert describe_bytes(2000) == "2 kB"
