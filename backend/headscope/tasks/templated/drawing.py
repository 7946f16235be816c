"""Rows drawn by hash from lists of words: the same on every machine; a longer draw begins with a shorter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from headscope.tasks.draw import numbers
from headscope.tasks.task import Row, Split

T = TypeVar("T")

_MOST = 2**62
_TRIES = 50
"""Draws for each row wanted; a recipe that repeats itself more often hasn't so many rows to give."""


class Pick:
    """Choices for one row, each by the next number of a stream of its own."""

    def __init__(self, key: str) -> None:
        self._numbers = numbers(key, _MOST)

    def one(self, items: Sequence[T]) -> T:
        """One of them."""
        return items[next(self._numbers) % len(items)]

    def some(self, items: Sequence[T], count: int) -> list[T]:
        """``count`` different places of ``items``, in random order."""
        left = list(items)
        return [left.pop(next(self._numbers) % len(left)) for _ in range(count)]

    def number(self, first: int, last: int) -> int:
        """A whole number from first to last."""
        return first + next(self._numbers) % (last - first + 1)


def drawn(name: str, split: Split, count: int, make: Callable[[Pick], Row]) -> tuple[Row, ...]:
    """``count`` rows with different prompts; ``ValueError`` where the recipe hasn't so many."""
    rows: dict[str, Row] = {}
    for number in range(_TRIES * count):
        row = make(Pick(f"{name} {split} {number}"))
        rows.setdefault(row.prompt, row)
        if len(rows) == count:
            return tuple(rows.values())
    raise ValueError(f"the templates of {name} give {len(rows)} different rows, not {count}")


def parted(items: Sequence[T]) -> dict[Split, tuple[T, ...]]:
    """Every fourth is held out: the lists stand in no order that would make these special."""
    return {
        "train": tuple(item for place, item in enumerate(items) if place % 4 != 3),
        "test": tuple(items[3::4]),
    }


def both_splits(name: str, make: Callable[[Pick, Split], Row], n_train: int, n_test: int) -> tuple[Row, ...]:
    """Training rows, then held-out ones."""
    train = drawn(name, "train", n_train, lambda pick: make(pick, "train"))
    return (*train, *drawn(name, "test", n_test, lambda pick: make(pick, "test")))
