"""Circuits from weights, live: look-ups of one head's tables, answered by a worker that holds the model.

Whole maps and graphs are analyses (eigen, composition, skip-trigrams, paths, residual): start a run.
Every route says 422 for a head, token or component there isn't, 409 for a model whose weights can't be read
so, and 503 where no worker is alive or the model is still being loaded.
"""

from __future__ import annotations

from collections.abc import Iterator

from fastapi import APIRouter

from headscope.core.model.tokens import Token, Tokenizer
from headscope.errors import NotFound
from headscope.messages import TokenOut
from headscope.messages.circuits import (
    CrossedIn,
    CrossedOut,
    TablesIn,
    TablesOut,
    TokenSearchIn,
    TokenSearchOut,
    VirtualIn,
    VirtualOut,
)
from headscope.web.asking import known_model
from headscope.web.deps import App

router = APIRouter(prefix="/circuits", tags=["circuits"])


@router.post("/tables", summary="The strongest cells of a head's OV or QK table, or of one token's")
def tables(body: TablesIn, app: App) -> TablesOut:
    """Exact over the whole vocabulary: seconds for a large one. 413 for a table that takes too long."""
    known_model(app, body.model)
    return app.workers.circuit_tables(body)


@router.post("/crossed", summary="Skip trigrams that a head can't keep apart")
def crossed(body: CrossedIn, app: App) -> CrossedOut:
    """Two chosen pairs of one source and their crossed ones, or the worst that the head has."""
    known_model(app, body.model)
    return app.workers.circuit_crossed(body)


@router.post("/virtual", summary="What one component reads of what another one writes")
def virtual(body: VirtualIn, app: App) -> VirtualOut:
    """Norm and top singular directions, read in tokens."""
    known_model(app, body.model)
    return app.workers.circuit_virtual(body)


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
