"""What a model's heads score on random tokens that repeat: for prompts that repeat too little."""

from __future__ import annotations

from typing import Final

import numpy as np
from jaxtyping import Float32

from headscope.core.model.head_model import HeadModel
from headscope.core.model.info import ModelInfo
from headscope.core.patterns.random_repeats import ordinary_tokens, repeated_tokens
from headscope.core.patterns.scores import FEWEST_QUERIES

LENGTH: Final = 32
DRAWS: Final = 4


def longest(info: ModelInfo) -> int:
    """Tokens of a sequence at most, BOS included."""
    return min(info.n_ctx, 1 + 2 * LENGTH)


def repeat_scores(model: HeadModel) -> Float32[np.ndarray, "score layer head"] | None:
    """Each of ``ABOVE`` as a mean over ``DRAWS`` sequences of ``LENGTH`` tokens, twice: or as many as the
    context and the vocabulary allow. None where these are too few.
    """
    from headscope.core.patterns.reading import look

    tokenizer, info = model.tokenizer, model.info
    n = min(LENGTH, (info.n_ctx - int(info.bos)) // 2, sum(1 for _ in ordinary_tokens(tokenizer)))
    if n < FEWEST_QUERIES:
        return None
    found = []
    for ids in repeated_tokens(tokenizer, n, DRAWS, seed=0, bos=info.bos).tolist():
        start = len(ids) - 2 * n
        copies = [[at - n] if at >= start + n else [] for at in range(len(ids))]
        found.append(look(model, ids, copies, most_thumb_bytes=0).above)
    return np.asarray(np.mean(found, axis=0), np.float32)
