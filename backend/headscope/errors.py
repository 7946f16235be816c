"""The error tree; every message says what is wrong, every remedy what to do.

HeadscopeError
├── NotFound            404  unknown model, task, analysis, run, share, figure, head
│   └── Gone            410  a share that was revoked or has expired
├── Invalid             422  parameters, rows, files or gates that can't be used
│   └── TooLarge        413  an upload or a request beyond a stated limit
├── Refused             409  possible in principle, not here: memory, a state, an existing name
├── Forbidden           403  host or origin not allowed
│   └── SignInNeeded    401  access token missing or wrong
├── TooManyAttempts     429  wrong access tokens in a row from one address
├── Unavailable         503  no worker, database locked, disk full, model not fetched, port taken
└── Cancelled           --   a run's owner asked for it to stop
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, ClassVar, Literal, Self

Where = Literal["page", "api", "command"]
"""Where an error is read: on a page, by a program over HTTP, at the command line."""


class HeadscopeError(Exception):
    """Base of all errors that a user may meet.

    ``code`` is a stable kebab-case word for programs, ``status`` the HTTP status it becomes,
    ``message`` says what is wrong, ``remedy`` what the reader can do about it, ``retry_after`` in how many
    seconds the same request may work. ``remedies`` are what to do in places that have ways of their own:
    ``remedy`` holds everywhere else.
    """

    status: ClassVar[int] = 500
    code: str = "error"

    def __init__(
        self,
        message: str,
        remedy: str,
        *,
        code: str | None = None,
        retry_after: int | None = None,
        remedies: Mapping[Where, str] | None = None,
    ) -> None:
        super().__init__(f"{message} {remedy}".strip())
        self.message = message
        self.remedy = remedy
        self.remedies = dict(remedies or {})
        self.retry_after = retry_after
        if code is not None:
            self.code = code

    def remedy_for(self, where: Where) -> str:
        """What a reader there can do."""
        return self.remedies.get(where, self.remedy)

    def about(self, what: str) -> Self:
        """The same error with ``what`` before its message: ``Prompt 3``, a parameter's name."""
        return type(self)(
            f"{what}: {self.message}",
            self.remedy,
            code=self.code,
            retry_after=self.retry_after,
            remedies=self.remedies,
        )

    def problem(self, where: Where | None = None) -> dict[str, Any]:
        """RFC 9457 problem details: what a response carries and how a run records its error."""
        return {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "code": self.code,
            "detail": self.message,
            "remedy": self.remedy if where is None else self.remedy_for(where),
        }


class NotFound(HeadscopeError):
    status = 404
    code = "not-found"


class Gone(NotFound):
    status = 410
    code = "gone"


class Invalid(HeadscopeError):
    status = 422
    code = "invalid"


class TooLarge(Invalid):
    status = 413
    code = "too-large"


class Refused(HeadscopeError):
    status = 409
    code = "refused"


class Forbidden(HeadscopeError):
    status = 403
    code = "forbidden"


class SignInNeeded(Forbidden):
    status = 401
    code = "sign-in-needed"


class TooManyAttempts(HeadscopeError):
    status = 429
    code = "too-many-attempts"


class Unavailable(HeadscopeError):
    status = 503
    code = "unavailable"


class Cancelled(HeadscopeError):
    code = "cancelled"


def from_problem(problem: Mapping[str, Any], *, retry_after: int | None = None) -> HeadscopeError:
    """The error that a problem tells of: the class by its status, the rest word for word."""
    kinds = {kind.status: kind for kind in _KINDS}
    kind = kinds.get(problem.get("status", 0), HeadscopeError)
    message = str(problem.get("detail") or problem.get("title") or "The request failed.")
    return kind(message, str(problem.get("remedy", "")), code=problem.get("code"), retry_after=retry_after)


_KINDS: tuple[type[HeadscopeError], ...] = (
    NotFound, Gone, Invalid, TooLarge, Refused, Forbidden, SignInNeeded, TooManyAttempts, Unavailable,
)  # fmt: skip
