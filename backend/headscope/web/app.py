"""The web application: ``create_app(settings)``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any, Final

from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from headscope import __version__, messages
from headscope.messages import Schema
from headscope.messages.questions import QUESTIONS, Question
from headscope.settings import Settings
from headscope.web import problems, schemas
from headscope.web.deps import Services, signed_in
from headscope.web.headers import SecurityHeaders
from headscope.web.limits import BodyLimit
from headscope.web.origin import HostAndOrigin
from headscope.web.routes import (
    analyses,
    circuits,
    comparisons,
    gates,
    health,
    models,
    prompts,
    questions,
    results,
    runs,
    shares,
    sign_in,
    tasks,
    validation,
)
from headscope.web.security import check_exposure
from headscope.web.static import FrontEnd

PREFIX: Final = "/api/v1"
OPEN: Final = (
    health.router,
    sign_in.router,
    analyses.router,
    results.router,
    gates.of_runs,
    comparisons.listing,
    comparisons.router,
    shares.reading,
)
"""Routes that look for themselves at who asks: a shared run answers its share's holder, too."""
CLOSED: Final = (
    models.known,
    models.router,
    tasks.router,
    validation.router,
    runs.router,
    prompts.router,
    gates.router,
)
"""Routes for those who may use the server; questions to models follow them."""
TAGS: Final = (
    ("service", "Whether the service is up and who works for it."),
    ("access", "Signing in, where the server asks for a token."),
    ("models", "Language models."),
    ("tasks", "What models are asked, built in and uploaded."),
    ("analyses", "What can be computed, and with which parameters."),
    ("runs", "Computations: started, watched, cancelled, read, exported."),
    ("figures", "Plotly figures and their templates."),
    ("comparisons", "Several finished gating runs side by side."),
    ("prompts", "Prompts as tokens, and saved prompts."),
    ("gates", "Saved gate vectors, and those that runs give."),
    ("lab", "Heads on a prompt, live."),
    ("circuits", "What a head's weights say, looked up live."),
    ("shares", "Short links to runs and a view of them."),
    ("validation", "How well planted roles are found."),
)


def create_app(settings: Settings, questions: Iterable[Question[Any, Any]] = QUESTIONS) -> FastAPI:
    """The API under /api/v1 and the front end everywhere else. ``questions`` are passed on to workers.

    Raises ``Refused`` (token-required) where the settings would open the server to others without a token.
    """
    check_exposure(settings)
    app = Application(
        title="Headscope",
        version=__version__,
        summary="What every attention head of a language model is for.",
        openapi_url=f"{PREFIX}/openapi.json",
        openapi_tags=[{"name": name, "description": description} for name, description in TAGS],
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=operation_id,
        lifespan=_closing,
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(HostAndOrigin, settings=settings),
            Middleware(BodyLimit, limit=settings.max_upload_bytes),
            Middleware(GZipMiddleware, minimum_size=1024, compresslevel=5),
        ],
    )
    app.state.services = Services(settings)
    problems.install(app)
    app.include_router(_api(questions), responses=_PROBLEMS)
    app.router.default = FrontEnd()
    return app


class Application(FastAPI):
    """FastAPI, which drops what is null from its document, with the nulls of examples put back."""

    def openapi(self) -> dict[str, Any]:
        document = super().openapi()
        for name, schema in document["components"]["schemas"].items():
            message = getattr(schemas, name, None) or getattr(messages, name, None)
            if isinstance(message, type) and issubclass(message, Schema):
                schema["examples"] = [message.example()]
        return document


def operation_id(route: APIRoute) -> str:
    """The handler's name: what the typed client calls an operation."""
    return route.name


def _api(asked: Iterable[Question[Any, Any]]) -> APIRouter:
    api = APIRouter(prefix=PREFIX)
    for router in OPEN:
        api.include_router(router)
    for router in (*CLOSED, questions.router(asked), circuits.router, shares.router):
        api.include_router(router, dependencies=[Depends(signed_in)])
    return api


@asynccontextmanager
async def _closing(app: FastAPI) -> AsyncIterator[None]:
    yield
    app.state.services.close()


_PROBLEM: Final = {
    "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
}
_PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    "4XX": {"description": "What is wrong and what to do.", **_PROBLEM},
    "5XX": {"description": "What failed here, and what to do.", **_PROBLEM},
}
