"""Questions to a model, live, each passed on to a worker that holds it: a route for each line of the table.

Whole maps and graphs are analyses (eigen, composition, skip-trigrams, paths, residual): start a run.
Every route says 422 for what can't be asked (an empty prompt, one beyond the context, a head or token there
isn't), 409 where the device has no room for it or the same board has asked for something newer, and 503 at
once where no worker is alive, or after ``wait`` seconds where the model is still being loaded, with
``Retry-After``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter

from headscope.messages import LabIn
from headscope.messages.questions import In, Out, Question
from headscope.web.deps import App, Services
from headscope.web.resolve import known_model, with_text


def router(questions: Iterable[Question[Any, Any]]) -> APIRouter:
    """The routes of these questions."""
    routes = APIRouter()
    for question in questions:
        _add(routes, question)
    return routes


def _add(routes: APIRouter, question: Question[In, Out]) -> None:
    def ask(body: In, app: App) -> Out:
        return app.workers.ask(question, _prepared(app, body))

    ask.__annotations__["body"] = question.asks  # FastAPI reads what a body is from here
    routes.add_api_route(
        question.path,
        ask,
        methods=["POST"],
        name=question.name,
        tags=[question.tag],
        summary=question.summary,
        description=question.detail,
        response_model=question.answers,
    )


def _prepared(app: Services, body: In) -> In:
    """The request as a worker takes it; what is wrong with it waits for none."""
    if isinstance(body, LabIn):
        return with_text(app, body)
    known_model(app, body.model)
    return body
