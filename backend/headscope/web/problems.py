"""Errors become HTTP once, here: RFC 9457 ``application/problem+json``, each with a remedy.

An unexpected error says nothing of its inside: its traceback goes to the log, the reader gets a 500.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DataError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from headscope.errors import HeadscopeError, Invalid, NotFound, SignInNeeded, TooLarge, Unavailable, Where
from headscope.messages.prompts import ONE_LINE
from headscope.web.headers import SECURITY_HEADERS

MEDIA_TYPE: Final = "application/problem+json"
READER: Final = "x-headscope-reader"
"""The header by which a page says that it asks: what to do about an error is said in the page's own ways."""


class ProblemResponse(Response):
    """An error as the API tells it."""

    media_type = MEDIA_TYPE

    def __init__(
        self, error: HeadscopeError, headers: dict[str, str] | None = None, where: Where = "api"
    ) -> None:
        headers = {"Cache-Control": "no-store", **(headers or {})}
        if isinstance(error, SignInNeeded):
            headers["WWW-Authenticate"] = "Bearer"
        if error.retry_after is not None:
            headers["Retry-After"] = str(error.retry_after)
        super().__init__(json.dumps(error.problem(where), ensure_ascii=False), error.status, headers)


def install(app: FastAPI) -> None:
    """Make every error of the app a problem."""
    app.add_exception_handler(HeadscopeError, _known)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(DataError, _unstorable)
    app.add_exception_handler(Exception, _unexpected)


def disk_full(error: BaseException | None) -> Unavailable | None:
    """The answer where an error means that the disk is full (an upload is spooled to one); else None."""
    if not isinstance(error, OSError) or error.errno != errno.ENOSPC:
        return None
    return Unavailable(
        "The disk is full; nothing that was stored is lost.",
        "Free some space and try again.",
        code="disk-full",
    )


def read_where(headers: Mapping[str, str]) -> Where:
    """Where the answer to a request with these headers is read."""
    return "page" if headers.get(READER) == "page" else "api"


def _known(request: Request, error: Exception) -> Response:
    assert isinstance(error, HeadscopeError)  # noqa: S101 - what Starlette calls this handler with
    return ProblemResponse(error, where=read_where(request.headers))


def _validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    return ProblemResponse(invalid(list(error.errors())), where=read_where(request.headers))


def _unstorable(_: Request, error: Exception) -> Response:
    """Postgres takes no NUL in text; SQLite does, and finds nothing by it."""
    return ProblemResponse(
        Invalid(
            "The request holds text that can't be stored or looked for, such as a NUL character.",
            "Remove it and send again.",
            code="not-text",
        )
    )


def invalid(errors: list[dict[str, Any]]) -> Invalid:
    """Pydantic's findings as one sentence each, at most five, and what to do about the first."""
    first = errors[0] if errors else {}
    if first.get("type") == "json_invalid":
        reason = first.get("ctx", {}).get("error", "it can't be parsed")
        return Invalid(f"The body is not JSON: {reason}.", "Send a JSON object.", code="not-json")
    # Our own validators' words, without pydantic's "Value error" before them.
    sentences = dict.fromkeys(f"{_place(e['loc'])}: {_fault(e)}." for e in errors[:5])
    return Invalid(" ".join(sentences), _remedy(first), code="invalid-request", remedies=_page_remedy(first))


def _place(loc: tuple[str | int, ...]) -> str:
    """Where a value stands, in the words of the request: ``body.run_ids``, ``query.threshold``.

    Of a field that may be one thing or another, pydantic names the kind it tried (``list[list[float]]``) too.
    """
    named = [str(part) for part in loc if not (str(part)[:1].isupper() or "[" in str(part))]
    return ".".join(named) or "request"


def _fault(finding: dict[str, Any]) -> str:
    if finding.get("ctx", {}).get("pattern") == ONE_LINE:
        return "should be one line, without control characters"
    return str(finding["msg"]).removeprefix("Value error, ")


def _name(finding: dict[str, Any]) -> str:
    return _place(finding.get("loc", ("it",))).rsplit(".", 1)[-1]


def _page_remedy(finding: dict[str, Any]) -> dict[Where, str]:
    """A page's reader reads no OpenAPI."""
    told = finding.get("type") in ("missing", "extra_forbidden")
    return {} if told else {"page": f"Change {_name(finding)} and try again."}


def _remedy(finding: dict[str, Any]) -> str:
    name = _name(finding)
    match finding.get("type"):
        case "missing":
            return f"Add {name}."
        case "extra_forbidden":
            return f"Leave {name} out, or check its spelling against /api/v1/openapi.json."
        case _:
            return f"Change {name} and send again; /api/v1/openapi.json has every field with an example."


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    return ProblemResponse(_from_http(request, error), dict(error.headers or {}))


def _from_http(request: Request, error: HTTPException) -> HeadscopeError:
    path, method = request.url.path, request.method
    match error.status_code:
        case 404:
            return NotFound(
                f"There is nothing at {path}.",
                "See /api/v1/openapi.json for what there is.",
                code="no-such-path",
            )
        case 405:
            allowed = (error.headers or {}).get("Allow", "another method")
            return _with_status(
                405, f"{path} doesn't take {method}.", f"Use {allowed}.", "method-not-allowed"
            )
        case 413:
            return TooLarge(str(error.detail), "Send less at a time.")
        case 400:
            return disk_full(error.__cause__) or _with_status(
                400,
                "The request's body can't be read.",
                "Send it whole, as its Content-Type says.",
                "bad-request",
            )
        case status:
            return _with_status(status, f"{HTTPStatus(status).phrase}.", "", "http-error")


def _with_status(status: int, message: str, remedy: str, code: str) -> HeadscopeError:
    error = HeadscopeError(message, remedy, code=code)
    error.status = status  # type: ignore[misc]  # the instance's own: statuses of HTTP itself have no class
    return error


def _unexpected(_: Request, error: Exception) -> Response:
    failure = disk_full(error) or HeadscopeError(
        "Headscope failed while answering this request.",
        "Try again; if it happens again, the server's log has the reason.",
        code="internal-error",
    )
    # Starlette answers these outside of all middleware, so the headers are set here.
    return ProblemResponse(failure, dict(SECURITY_HEADERS))
