"""What a task's page shows: the first examples of a split, ready to be shown as tokens."""

from __future__ import annotations

from headscope.core.model.tokens import Tokenizer
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
