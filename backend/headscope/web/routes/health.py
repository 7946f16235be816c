"""Whether the service lives, who works for it, and how plots look: open to everyone."""

from __future__ import annotations

from fastapi import APIRouter

from headscope.web.schemas import HealthOut, ThemeOut

router = APIRouter()


@router.get("/health", tags=["service"], summary="Is the service up, and who works for it")
def health() -> HealthOut:
    raise NotImplementedError


@router.get("/theme", tags=["figures"], summary="Plotly templates, light and dark")
def theme() -> ThemeOut:
    raise NotImplementedError
