"""A two-layer model whose heads' roles are known, because every weight is set by hand.

The task is induction on random tokens: a start token, then A B C ... A B C ... The residual stream has four
parts: the token, its position, the token before it, and the logits. Token 0 never occurs, but the embedding
favours it as an answer.

    0.0  previous-token head: writes the token before into its part       needed
    0.1  nothing                                                          doesn't matter
    0.2  writes against token 0; so does 1.1, and either is enough        redundant
    0.3  copies the present token to the logits, always wrong             harmful
    1.0  induction head: looks for its own token among the tokens before  needed
    1.1  as 0.2                                                           redundant
    1.2, 1.3  nothing                                                     don't matter
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import torch

from headscope.tasks.task import Example, Examples, Split
from micro.model import MicroExample, MicroModel

NEEDED = ((0, 0), (1, 0))
HARMFUL = ((0, 3),)
REDUNDANT = ((0, 2), (1, 1))
USELESS = ((0, 1), (1, 2), (1, 3))

VOCAB, COPY, START = 16, 6, 15

_TOKEN, _POSITION, _BEFORE, _LOGITS = (slice(i * 16, (i + 1) * 16) for i in range(4))
_FAVOUR, _AGAINST, _INDUCED, _PRESENT = 10.0, 20.0, 6.0, 8.0


def planted_model() -> MicroModel:
    """The model of the module's table, in float64."""
    eye, root = torch.eye(16, dtype=torch.float64), math.sqrt(16)
    W_E, W_pos = (torch.zeros(16, 64, dtype=torch.float64) for _ in range(2))
    W_Q, W_K, W_V = (torch.zeros(2, 4, 64, 16, dtype=torch.float64) for _ in range(3))
    W_O, W_U = torch.zeros(2, 4, 16, 64, dtype=torch.float64), torch.zeros(64, VOCAB, dtype=torch.float64)
    W_E[:, _TOKEN] = eye
    W_E[:, _LOGITS.start] = _FAVOUR
    W_pos[:, _POSITION] = eye
    W_U[_LOGITS] = eye

    W_Q[0, 0, _POSITION] = 30 * root * torch.eye(16, dtype=torch.float64).roll(-1, dims=1)
    W_K[0, 0, _POSITION] = eye
    W_V[0, 0, _TOKEN] = eye
    W_O[0, 0, :, _BEFORE] = eye

    W_Q[0, 3, _POSITION] = 30 * root * eye
    W_K[0, 3, _POSITION] = eye
    W_V[0, 3, _TOKEN] = eye
    W_O[0, 3, :, _LOGITS] = _PRESENT * eye

    W_Q[1, 0, _TOKEN] = 8 * root * eye
    W_K[1, 0, _BEFORE] = eye
    W_V[1, 0, _TOKEN] = eye
    W_O[1, 0, :, _LOGITS] = _INDUCED * eye

    for layer, head in REDUNDANT:
        W_V[layer, head, _TOKEN, 0] = 1.0
        W_O[layer, head, 0, _LOGITS.start] = -_AGAINST
    return MicroModel(W_E, W_pos, W_Q, W_K, W_V, W_O, W_U)


def planted_examples(n: int, seed: int = 0) -> list[MicroExample]:
    """A start token, then six different tokens twice; targets are the second copy, but for its first."""
    source = torch.Generator().manual_seed(seed)
    examples = []
    for _ in range(n):
        once = (torch.randperm(START - 1, generator=source)[:COPY] + 1).tolist()
        examples.append(MicroExample((START, *once, *once), tuple(range(COPY + 2, 2 * COPY + 1))))
    return examples


@dataclass(frozen=True)
class PlantedTask:
    """The planted examples as a task: the held-out split is drawn apart."""

    name: str = "planted"
    title: str = "Planted induction"
    description: str = "Six tokens twice."
    source: str = "drawn"
    licence: str = "MIT"
    kind: Literal["text", "generated"] = "generated"
    origin: Literal["built-in", "yours"] = "yours"
    n_rows: int | None = None
    template: str | None = None
    shots: int = 0
    targets: str = "The second copy."
    judged: Literal["top", "pair"] = "top"
    content_hash: str = "c0ffee"
    rows: tuple[int, int] = (48, 24)

    def sizes(self, *, seed: int = 0) -> tuple[int, int]:
        return self.rows

    def examples(
        self,
        tokenizer: Any,
        split: Split,
        *,
        limit: int | None = None,
        seed: int = 0,
        shots: int | None = None,
        n_ctx: int | None = None,
    ) -> Examples:
        n, offset = (self.rows[0], 0) if split == "train" else (self.rows[1], 10_000)
        drawn = planted_examples(n if limit is None else min(n, limit), seed=seed + offset)
        return Examples(tuple(Example(example.tokens, example.targets) for example in drawn))
