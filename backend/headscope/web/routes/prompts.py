"""Prompts as tokens; needs no worker and no device."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter

from headscope.core.tokens import Token, Tokenizer
from headscope.web.asking import known_model
from headscope.web.deps import App
from headscope.web.present import token_out
from headscope.web.schemas import TokenizeIn, TokenizeOut

router = APIRouter(prefix="/prompts", tags=["prompts"])

Bos = Literal["none", "added", "in-text", "doubled"]


@router.post("/tokenize", summary="Tokens with true byte spans; needs no worker")
def tokenize(body: TokenizeIn, app: App) -> TokenizeOut:
    """Special tokens in the text are text; `bos`: whether one was added, whether the text spells one."""
    info = known_model(app, body.model)
    tokenizer = app.models.tokenizer(body.model)
    tokens = tokenizer.tokens(body.text, bos=body.bos)
    return TokenizeOut(
        tokens=[token_out(token) for token in tokens],
        n_ctx=info.n_ctx,
        bos=bos_of(tokenizer, tokens, body.text),
    )


def bos_of(tokenizer: Tokenizer, tokens: list[Token], text: str) -> Bos:
    """``in-text``: the text begins with the BOS token's name, which the model reads as plain characters."""
    if tokenizer.bos_id is None:
        return "none"
    added = bool(tokens) and tokens[0].special and tokens[0].id == tokenizer.bos_id
    spelled = tokenizer.decode_bytes(tokenizer.bos_id).decode("utf-8", "replace")
    in_text = bool(spelled) and text.startswith(spelled)
    if added:
        return "doubled" if in_text else "added"
    return "in-text" if in_text else "none"
