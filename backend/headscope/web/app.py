"""The web application: ``create_app(settings)``."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute

from headscope import __version__
from headscope.settings import Settings
from headscope.web.routes import analyses, health, lab, models, prompts, results, runs, shares, sign_in, tasks

PREFIX = "/api/v1"


def operation_id(route: APIRoute) -> str:
    """The handler's name: what the typed client calls an operation."""
    return route.name


def api_router() -> APIRouter:
    api = APIRouter(prefix=PREFIX)
    for module in (health, sign_in, models, tasks, analyses, runs, results, prompts, lab, shares):
        api.include_router(module.router)
    return api


def create_app(settings: Settings) -> FastAPI:
    app = FastAPI(
        title="Headscope",
        version=__version__,
        summary="What every attention head of a language model is for.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=operation_id,
    )
    problem = {"content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}}
    app.include_router(
        api_router(),
        responses={
            "4XX": {"description": "What is wrong and what to do.", **problem},
            "5XX": {"description": "What failed here, and what to do.", **problem},
        },
    )
    return app
