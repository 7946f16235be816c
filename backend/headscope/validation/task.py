"""The planted models' task: a start token, then a few different tokens twice."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import torch

from headscope.tasks.task import Example, Examples, Split
from headscope.validation.planted import COPY

_HELD_OUT: Final = 10_000
"""What is added to the seed of the held-out split."""


def planted_examples(n: int, seed: int = 0, vocab: int = 16, copy: int = COPY) -> list[Example]:
    """``copy`` tokens, twice; targets are the second copy, but for its first token.

    Neither token 0 nor the start token, the vocabulary's last, is ever drawn.
    """
    source = torch.Generator().manual_seed(seed)
    start, drawn = vocab - 1, []
    for _ in range(n):
        once = (torch.randperm(vocab - 2, generator=source)[:copy] + 1).tolist()
        drawn.append(Example((start, *once, *once), tuple(range(copy + 2, 2 * copy + 1))))
    return drawn


class DrawnRows(ABC):
    """How a task gives examples that ``drawn`` makes: the held-out split is drawn apart."""

    rows: tuple[int, int]
    """How many there are to fit on, and held out."""

    @abstractmethod
    def drawn(self, n: int, seed: int) -> Sequence[Example]:
        """So many examples; the same ``seed`` gives the same."""

    def sizes(self, *, seed: int = 0) -> tuple[int, int]:
        """How many examples there are to fit on, and held out."""
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
        pool: int | None = None,
    ) -> Examples:
        """A split's examples; they need no tokenizer."""
        n, offset = (self.rows[0], 0) if split == "train" else (self.rows[1], _HELD_OUT)
        return Examples(tuple(self.drawn(n if limit is None else min(n, limit), seed + offset)))


@dataclass(frozen=True)
class PlantedTask(DrawnRows):
    """The planted examples as a task: the held-out split is drawn apart."""

    name: str = "planted"
    title: str = "Planted induction"
    description: str = "A few tokens twice."
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
    vocab: int = 16
    copy: int = COPY

    def drawn(self, n: int, seed: int) -> list[Example]:
        """See ``planted_examples``."""
        return planted_examples(n, seed, self.vocab, self.copy)
