from __future__ import annotations

from fastapi import APIRouter

from headscope.web.schemas import TokenizeIn, TokenizeOut

router = APIRouter(prefix="/prompts", tags=["prompts"])


@router.post("/tokenize", summary="Tokens with true byte spans; needs no worker")
def tokenize(body: TokenizeIn) -> TokenizeOut:
    raise NotImplementedError
