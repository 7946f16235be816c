"""What a task is: something a model is asked, with the tokens it should answer.

Text tasks are rows and a template; generated tasks (repeated random tokens, abstract rules) draw
their examples from a tokenizer's vocabulary. Both give ``Example``s, which is all that analyses see.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, overload, runtime_checkable

from headscope.core.model.tokens import Tokenizer

Split = Literal["train", "test"]
Judged = Literal["top", "each", "pair"]


@dataclass(frozen=True)
class Row:
    """One question. ``counterfactual`` is a wrong answer of the same kind, where there is one; ``paired`` a
    prompt like this one with another answer: the counterfactual, where there is one.
    """

    prompt: str
    target: str
    counterfactual: str | None = None
    paired: str | None = None


@dataclass(frozen=True)
class Example:
    """A rendered row. ``tokens`` end with the last target token; ``targets`` are the positions in
    ``tokens`` that carry loss (the logits that predict position p stand at p - 1, so p >= 1).
    ``counterfactual`` are the token ids that would stand there for the wrong answer, from the first
    target position on; they may be more or fewer than the targets. ``paired`` are the tokens of the paired
    prompt with this row's own targets after it, position by position as ``tokens``; None where there is
    none, or where the two differ in length. ``pool_set`` is the set that its in-context examples are, where
    they come from a pool.
    """

    tokens: tuple[int, ...]
    targets: tuple[int, ...]
    counterfactual: tuple[int, ...] | None = None
    paired: tuple[int, ...] | None = None
    pool_set: int | None = None

    @property
    def target_ids(self) -> tuple[int, ...]:
        """The token ids at the target positions."""
        return tuple(self.tokens[position] for position in self.targets)


@dataclass(frozen=True)
class Examples(Sequence[Example]):
    """Examples of one split in their fixed order, and what had to be left out to fit a context.

    ``n_left_out`` rows came before the last example and are longer than the context; the longest of
    them has ``longest`` tokens (0 where none was left out). They are to be reported, never hidden.
    ``offered`` answers stand in each prompt to choose from, 0 where it offers none.
    """

    items: tuple[Example, ...]
    n_left_out: int = 0
    longest: int = 0
    offered: int = 0

    @overload
    def __getitem__(self, index: int) -> Example: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Example]: ...
    def __getitem__(self, index: int | slice) -> Example | Sequence[Example]:
        return self.items[index]

    def __len__(self) -> int:
        return len(self.items)

    @property
    def pool_sets(self) -> tuple[int, ...] | None:
        """Which set of in-context examples each example has; None where any has its own."""
        sets = [example.pool_set for example in self.items]
        known = tuple(each for each in sets if each is not None)
        return known if sets and len(known) == len(sets) else None

    def chance(self, judged: Judged = "top") -> float:
        """What guessing would get, in [0, 1]; 0 where there are no examples.

        The most frequent answer for ``top``, or one of those offered where that gets more; the most frequent
        token for ``each``, a coin for ``pair``.
        """
        if judged == "pair":
            return 0.5
        if judged == "each":
            shares: Counter[int] = Counter()
            for example in self.items:
                for token in example.target_ids:
                    shares[token] += 1 / len(example.targets)  # type: ignore[assignment]
            return max(shares.values(), default=0.0) / max(len(self.items), 1)
        counts = Counter(example.target_ids for example in self.items)
        if not counts:
            return 0.0
        return max(max(counts.values()) / len(self.items), 1 / self.offered if self.offered else 0.0)


@runtime_checkable
class Task(Protocol):
    """What analyses and pages ask of a task."""

    @property
    def name(self) -> str:
        """How it is called in URLs and commands."""
        ...

    @property
    def title(self) -> str:
        """How it is called on pages."""
        ...

    @property
    def description(self) -> str:
        """What is asked, with an example."""
        ...

    @property
    def source(self) -> str:
        """Where the rows are from, with the attribution that their licence asks for."""
        ...

    @property
    def licence(self) -> str:
        """The licence of the rows."""
        ...

    @property
    def kind(self) -> Literal["text", "generated"]:
        """Rows of text, or drawn from the vocabulary."""
        ...

    @property
    def origin(self) -> Literal["built-in", "yours"]:
        """Whether it ships or was uploaded."""
        ...

    @property
    def n_rows(self) -> int | None:
        """Distinct rows; None where they are generated."""
        ...

    @property
    def template(self) -> str | None:
        """How a row becomes text, e.g. ``Q: {prompt}\\nA: {target}``; None where there is no text."""
        ...

    @property
    def shots(self) -> int:
        """In-context examples before the question, where none are asked for otherwise."""
        ...

    @property
    def targets(self) -> str:
        """What carries loss, in words."""
        ...

    @property
    def judged(self) -> Judged:
        """How right an answer is: ``top``, all its tokens are the most likely ones of the vocabulary;
        ``each``, the share of its tokens that are (long answers); ``pair``, it is more likely than the
        counterfactual (many answers would be right)."""
        ...

    @property
    def content_hash(self) -> str:
        """SHA-256 over all that decides the examples; part of a run's identity."""
        ...

    def sizes(self, *, seed: int = 0) -> tuple[int, int]:
        """Rows in the training and in the test split, before any is left out."""
        ...

    def examples(
        self,
        tokenizer: Tokenizer,
        split: Split,
        *,
        limit: int | None = None,
        seed: int = 0,
        shots: int | None = None,
        n_ctx: int | None = None,
        pool: int | None = None,
    ) -> Examples:
        """Examples of one split, in a fixed order for a seed; in-context ones are of the training split only.

        ``limit`` stops after so many. With ``pool`` the training rows share so many sets of in-context
        examples (``tasks.pool``). Rows longer than ``n_ctx`` tokens are left out and counted;
        ``Invalid`` where nothing is left, or where a target tokenises to nothing.
        """
        ...
