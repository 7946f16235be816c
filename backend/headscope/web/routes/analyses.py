from __future__ import annotations

from fastapi import APIRouter

from headscope.web.schemas import AnalysisOut

router = APIRouter(prefix="/analyses", tags=["analyses"])


@router.get("", summary="Analyses with the JSON schema of their parameters")
def list_analyses() -> list[AnalysisOut]:
    raise NotImplementedError
