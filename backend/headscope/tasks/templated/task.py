"""A text task whose held-out rows are other things than its training rows, not only other rows.

A row made from a template says little that another of the same names doesn't. So what is held out is decided
when the rows are made, by their content: names, words, numbers or whole templates that training never shows.
A seed puts each split in order, and no row changes sides.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256

from headscope.core.model.tokens import Tokenizer
from headscope.tasks.draw import ordered
from headscope.tasks.task import Examples, Row, Split
from headscope.tasks.text import TextTask


@dataclass(frozen=True)
class TemplatedTask(TextTask):
    """``rows`` end with the ``n_held_out`` held-out ones. ``offered`` answers stand in each prompt to choose
    from: guessing among them gets one in so many; 0 where a prompt offers none.
    """

    n_held_out: int = 0
    offered: int = 0

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 over what decides a text task's examples, and which rows are held out."""
        parts = [super().content_hash, self.n_held_out, self.offered]
        return sha256(json.dumps(parts).encode()).hexdigest()

    def sizes(self, *, seed: int = 0) -> tuple[int, int]:
        """Rows in the training and in the test split; the same for every seed."""
        return len(self.rows) - self.n_held_out, self.n_held_out

    def split(self, seed: int) -> dict[Split, list[Row]]:
        """The rows of both splits; the seed decides their order only."""
        n_train, _ = self.sizes()
        parts: dict[Split, tuple[Row, ...]] = {"train": self.rows[:n_train], "test": self.rows[n_train:]}
        return {split: _in_order(f"split {seed}", rows) for split, rows in parts.items()}

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
        """See ``Task.examples``; they know what guessing among the answers offered gets."""
        found = super().examples(
            tokenizer, split, limit=limit, seed=seed, shots=shots, n_ctx=n_ctx, pool=pool
        )
        return replace(found, offered=self.offered)


def _in_order(key: str, rows: tuple[Row, ...]) -> list[Row]:
    return [rows[index] for index in ordered(key, [row.prompt for row in rows])]
