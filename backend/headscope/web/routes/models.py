from __future__ import annotations

from fastapi import APIRouter

from headscope.web.schemas import ModelOut

router = APIRouter(prefix="/models", tags=["models"])


@router.get("", summary="Models that this installation knows")
def list_models() -> list[ModelOut]:
    raise NotImplementedError


@router.get("/{name:path}", summary="One model with its card")
def get_model(name: str) -> ModelOut:
    raise NotImplementedError
