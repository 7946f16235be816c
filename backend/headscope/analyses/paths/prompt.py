"""The prompt of a path expansion: its tokens, and the position and tokens that are looked at, checked."""

from __future__ import annotations

from headscope.analyses.paths.schema import PathsParams
from headscope.core.model.info import ModelInfo
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid


def token_ids(tokenizer: Tokenizer, text: str, model: ModelInfo) -> list[int]:
    """The tokens of a text. Raises ``Invalid`` (too-long, empty-text) where the model can't read them."""
    ids = tokenizer.encode(text)
    if not 0 < len(ids) <= model.n_ctx:
        raise Invalid(
            f"The prompt has {len(ids)} tokens; {model.name} reads 1 to {model.n_ctx}.",
            "Shorten it." if ids else "Write at least one character.",
            code="too-long" if ids else "empty-text",
        )
    return ids


def looked_at(params: PathsParams, model: ModelInfo, tokens: int) -> tuple[int, int, int]:
    """Position, token and the one against it; -1 where the most likely, or none, is meant.

    Raises ``Invalid`` (unknown-position, unknown-token) for what a prompt of so many tokens doesn't have.
    """
    at = tokens - 1 if params.at is None else params.at
    if at >= tokens:
        raise Invalid(
            f"There is no position {at}: the prompt has {tokens} tokens.",
            f"Positions run 0-{tokens - 1}.",
            code="unknown-position",
        )
    for token in (params.token, params.against):
        if token is not None and token >= model.d_vocab:
            raise Invalid(
                f"There is no token {token}.", f"Ids run 0-{model.d_vocab - 1}.", code="unknown-token"
            )
    token, against = params.token, params.against
    return at, -1 if token is None else token, -1 if against is None else against
