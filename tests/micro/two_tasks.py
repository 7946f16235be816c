"""A model of one layer in which one head serves one task and another head the other.

A token of 0-3 asks for the token 8 higher, by head 0 alone; a token of 4-7 asks for the token 8 higher, by
head 1 alone; head 2 does nothing. All heads attend evenly to every token so far; 15 is the start token.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from headscope.tasks.task import Example, Examples, Split
from headscope.validation.task import PlantedTask
from micro.model import MicroModel

FIRST_HEAD, SECOND_HEAD, IDLE = (0, 0), (0, 1), (0, 2)
VOCAB, START, STRENGTH = 16, 15, 12.0


def two_task_model() -> MicroModel:
    """The model of the module's description, in float64."""
    heads, width = 3, VOCAB
    eye = torch.eye(VOCAB, dtype=torch.float64)
    none = torch.zeros(1, heads, VOCAB, width, dtype=torch.float64)
    values, out = none.clone(), none.transpose(2, 3).clone()
    for head, tokens in ((0, range(4)), (1, range(4, 8))):
        for token in tokens:
            values[0, head, token, token] = 1
            out[0, head, token, token + 8] = STRENGTH
    unembedding = eye.clone()
    unembedding[:8] = 0  # what came in says nothing by itself
    return MicroModel(eye, torch.zeros(4, VOCAB, dtype=torch.float64), none, none, values, out, unembedding)


@dataclass(frozen=True)
class Asked(PlantedTask):
    """Start token, a token from ``first`` on, its answer."""

    name: str = "lower"
    content_hash: str = "1" * 64
    first: int = 0

    def examples(
        self,
        tokenizer: Any,
        split: Split,
        *,
        limit: int | None = None,
        seed: int = 0,
        shots: int | None = None,
        n_ctx: int | None = None,
        pool: int | None = None,
    ) -> Examples:
        """Eight examples, each token twice."""
        drawn = [Example((START, token, token + 8), (2,)) for token in range(self.first, self.first + 4)]
        return Examples(tuple((drawn * 2)[:limit]))


LOWER = Asked()
UPPER = Asked(name="upper", content_hash="2" * 64, first=4)
