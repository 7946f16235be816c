"""What a task's page shows: the first examples of a split, as tokens with their bytes."""

from __future__ import annotations

from collections.abc import Sequence

from headscope.core.model.tokens import Token, Tokenizer
from headscope.tasks.task import Examples, Split, Task


def preview(
    task: Task,
    tokenizer: Tokenizer,
    split: Split,
    limit: int,
    *,
    seed: int = 0,
    shots: int | None = None,
    n_ctx: int | None = None,
) -> tuple[Examples, int, int]:
    """The first ``limit`` examples, and how many rows the training and the test split have."""
    examples = task.examples(tokenizer, split, limit=limit, seed=seed, shots=shots, n_ctx=n_ctx)
    return (examples, *task.sizes(seed=seed))


def as_tokens(tokenizer: Tokenizer, ids: Sequence[int]) -> list[Token]:
    """Tokens of ids, with spans counted in their concatenation; special ones cover nothing."""
    tokens: list[Token] = []
    start = 0
    for token_id in ids:
        spelled = tokenizer.decode_bytes(token_id)
        special = tokenizer.is_special(token_id)
        end = start if special else start + len(spelled)
        tokens.append(Token(token_id, start, end, spelled, special))
        start = end
    return tokens
