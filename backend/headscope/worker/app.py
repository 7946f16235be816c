"""The worker's own small web server: answers questions for the web process, guarded by a secret."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from typing import Any

from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse

from headscope.errors import Forbidden, HeadscopeError
from headscope.jobs.problem import problem_of
from headscope.messages import Schema
from headscope.messages.questions import Question
from headscope.worker.answers import ANSWERS, Answer
from headscope.worker.handler import RequestHandler


def create_app(handler: RequestHandler, answers: Mapping[Question[Any, Any], Answer] = ANSWERS) -> FastAPI:
    """An endpoint for each question, and ``/health``."""
    guard = Depends(_guard(handler.secret))
    app = FastAPI(title="Headscope worker", openapi_url=None, dependencies=[guard])
    app.add_exception_handler(HeadscopeError, _problem)
    app.add_exception_handler(Exception, _problem)
    for question, answer in answers.items():
        app.post(question.path, response_model=question.answers)(_endpoint(handler, question, answer))

    @app.get("/health")
    def health() -> dict[str, list[str]]:
        return {"models": handler.models.names()}

    return app


def _endpoint(handler: RequestHandler, question: Question[Any, Any], answer: Answer) -> Callable[..., Schema]:
    def endpoint(wanted: Schema) -> Schema:
        return answer(handler, wanted)

    endpoint.__annotations__["wanted"] = question.asks  # FastAPI reads what a body is from here
    return endpoint


def _guard(secret: str) -> Callable[[Request], None]:
    def check(request: Request) -> None:
        given = request.headers.get("authorization", "").removeprefix("Bearer ")
        if not secrets.compare_digest(given.encode(), secret.encode()):
            raise Forbidden(
                "This endpoint is for Headscope's own processes.", "Use the pages or the API instead."
            )

    return check


def _problem(_: Request, error: Exception) -> JSONResponse:
    problem = problem_of(error)
    after = error.retry_after if isinstance(error, HeadscopeError) else None
    return JSONResponse(problem, problem["status"], {} if after is None else {"Retry-After": str(after)})
