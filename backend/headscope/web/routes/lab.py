from __future__ import annotations

from fastapi import APIRouter

from headscope.web.schemas import GatesIn, GatesOut, PatternsIn, PatternsOut

router = APIRouter(prefix="/lab", tags=["lab"])


@router.post("/patterns", summary="Attention patterns of a prompt")
def patterns(body: PatternsIn) -> PatternsOut:
    raise NotImplementedError


@router.post("/gates", summary="Next-token probabilities before and after gating heads")
def gates(body: GatesIn) -> GatesOut:
    raise NotImplementedError
