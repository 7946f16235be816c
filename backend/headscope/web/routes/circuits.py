"""Tokens of a vocabulary by their text, for pages that look up circuits; the tokenizer alone answers."""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter

from headscope.core.model.tokens import Token, Tokenizer
from headscope.errors import NotFound
from headscope.messages import TokenOut, TokenSearchIn, TokenSearchOut
from headscope.web.deps import App
from headscope.web.resolve import known_model

router = APIRouter(prefix="/circuits", tags=["circuits"])


@router.post("/tokens", summary="Tokens of a model's vocabulary by their text")
def tokens(body: TokenSearchIn, app: App) -> TokenSearchOut:
    """No worker is asked. Case and spaces count in what a text is cut into, not in what contains it."""
    tokenizer = app.models.tokenizer(known_model(app, body.model).name)
    wanted = body.text.casefold().strip() or body.text
    spelled = tokenizer.encode(body.text, bos=False)
    containing = [token for token in _vocabulary(tokenizer) if wanted in (token.text or "").casefold()]
    containing.sort(key=lambda token: (len(token.bytes), token.id))
    return TokenSearchOut(
        model=body.model,
        spelled=[TokenOut.of(_token(tokenizer, token)) for token in spelled],
        containing=[TokenOut.of(token) for token in containing[: body.top]],
        n_containing=len(containing),
    )


def _vocabulary(tokenizer: Tokenizer) -> Iterator[Token]:
    for token in range(tokenizer.n_vocab):
        try:
            yield _token(tokenizer, token)
        except NotFound:  # vocabularies may have holes
            continue


def _token(tokenizer: Tokenizer, token: int) -> Token:
    content = tokenizer.decode_bytes(token)
    return Token(token, 0, len(content), content, tokenizer.is_special(token))
