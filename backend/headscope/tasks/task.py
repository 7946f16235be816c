"""What a task is: something a model is asked, with the tokens it should answer.

Text tasks are rows and a template; generated tasks (repeated random tokens, abstract rules) draw
their examples from a tokenizer's vocabulary. Both give ``Example``s, which is all that analyses see.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from headscope.core.tokens import Tokenizer

Split = Literal["train", "test"]


@dataclass(frozen=True)
class Row:
    """One question. ``counterfactual`` is a wrong answer of the same kind, where there is one."""

    prompt: str
    target: str
    counterfactual: str | None = None


@dataclass(frozen=True)
class Example:
    """A rendered row. ``tokens`` end with the last target token; ``targets`` are the positions in
    ``tokens`` that carry loss (the logits that predict position p stand at p - 1, so p >= 1).
    ``counterfactual`` are the token ids that would stand at ``targets`` for the wrong answer.
    """

    tokens: tuple[int, ...]
    targets: tuple[int, ...]
    counterfactual: tuple[int, ...] | None = None


class Task(Protocol):
    """What analyses and pages ask of a task."""

    name: str
    title: str
    description: str
    source: str
    licence: str
    kind: Literal["text", "generated"]
    origin: Literal["built-in", "yours"]

    @property
    def content_hash(self) -> str:
        """SHA-256 over all that decides the examples; part of a run's identity."""
        ...

    def examples(
        self, tokenizer: Tokenizer, split: Split, *, limit: int | None = None, seed: int = 0, shots: int | None = None
    ) -> Sequence[Example]:
        """Examples of one split, in a fixed order for a seed; in-context examples come from the training split only."""
        ...
