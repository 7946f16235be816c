"""Repeated random tokens: the prompt on which induction can do nothing but copy. Loads no torch."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from jaxtyping import Int64

from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid, NotFound


def repeated_tokens(
    tokenizer: Tokenizer, n: int, draws: int, seed: int, copies: int = 2, *, bos: bool | None = None
) -> Int64[np.ndarray, "draw pos"]:
    """``draws`` rows of ``n`` random tokens, repeated until there are ``copies``; BOS first by ``bos``.

    bos None: where the tokenizer adds one. Tokens are drawn from the vocabulary's ordinary ones and no two of
    a row's first copy are the same, so that each has one earlier copy only. A draw depends on the seed and
    its own number, not on how many there are. Raises Invalid where the vocabulary has fewer ordinary tokens.
    """
    ordinary = ordinary_tokens(tokenizer)
    if n > len(ordinary):
        raise Invalid(
            f"{n} different tokens can't be drawn from {len(ordinary)}.",
            f"Choose a length of at most {len(ordinary)}.",
            code="too-long",
        )
    first = [tokenizer.bos_id] if (tokenizer.adds_bos if bos is None else bos) else []
    if first == [None]:
        raise Invalid(
            "This tokenizer has no beginning-of-sequence token.",
            "Leave BOS at the model's own setting.",
            code="no-bos",
        )
    rows = []
    for draw in range(draws):
        once = np.random.default_rng([seed, draw]).choice(ordinary, n, replace=False)
        rows.append(np.concatenate([np.array(first, dtype=np.int64), *[once] * copies]))
    return np.stack(rows)


@lru_cache(maxsize=4)
def ordinary_tokens(tokenizer: Tokenizer) -> Int64[np.ndarray, " token"]:
    """Ids that stand for printable text: no special tokens, pieces of a character, spaces, control codes."""
    printable = (i for i in range(tokenizer.n_vocab) if not tokenizer.is_special(i) and _prints(tokenizer, i))
    return np.fromiter(printable, dtype=np.int64)


def _prints(tokenizer: Tokenizer, token_id: int) -> bool:
    try:
        text = tokenizer.decode_bytes(token_id).decode().strip()
    except (UnicodeDecodeError, NotFound):  # vocabularies may have holes
        return False
    return bool(text) and text.isprintable()
