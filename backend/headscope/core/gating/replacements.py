"""Where r comes from: what stands for the z of a head that is switched off, z' = g z + (1 - g) r.

mean            the mean of z over other rows of the task at the same position class. A class is a distance
                from the last target token; the first token is a class by itself, since heads rest there. A
                distance that fewer than ``FEW`` rows reach, or beyond the longest class kept, takes the mean
                over all positions but first ones.
resample        z of another row of the task, drawn anew for each use: by a key (the seed and the update, in a
                fit) and the row's own tokens, so that the same request draws the same on every machine and
                however it is cut. Rows are aligned at the end, first token with first token; where the other
                row is shorter, the positions after its first token are gone round again.
counterfactual  z of the row's paired prompt at the same position.

z is always that of the model as it is, with all heads open. Rows under ``mean`` share a beginning only where
they are of one length, under the other two never (``MicroBatch.packing``): each row has an r of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int

from headscope.core.model.batches import MicroBatch, Scored, budget_for, micro_batches
from headscope.core.model.head_model import HeadModel
from headscope.core.model.replacement import Replacement
from headscope.errors import Invalid

FEW: Final = 4
"""Rows that a position class needs for a mean of its own."""

TABLE_BYTES: Final = 16 * 2**20
"""What the means of a run may take; classes further from the end have none of their own."""

_FIRST, _LATER, _CLASSES = 0, 1, 2  # entries of a table of means: first tokens, all others, then by distance


@runtime_checkable
class Replacements(Protocol):
    """Gives r for the rows of a micro-batch."""

    def kind(self, example: Scored, number: int) -> int:
        """Examples of different kinds can't share a beginning; ``number`` is the example's index."""
        ...

    def drawn(self, keys: Sequence[str]) -> Replacements:
        """The same with other draws: a key for each owner of rows."""
        ...

    def by_row(self, owners: Sequence[int]) -> Replacements:
        """The same draws where each row is an owner of its own, instead of ``owners[row]``."""
        ...

    def of(self, model: HeadModel, batch: MicroBatch, examples: Sequence[Scored]) -> Replacement:
        """r at each position of the batch's rows; may run the model, with no context open."""
        ...


@dataclass(frozen=True)
class Means:
    """r by position class, from a table that ``mean_table`` made."""

    table: Float[torch.Tensor, "entry layer head d_head"]

    def kind(self, example: Scored, number: int) -> int:
        """Rows of one length have their classes at the same positions."""
        return input_length(example)

    def drawn(self, keys: Sequence[str]) -> Means:
        """Nothing is drawn."""
        return self

    def by_row(self, owners: Sequence[int]) -> Means:
        """Nothing is drawn."""
        return self

    def of(self, model: HeadModel, batch: MicroBatch, examples: Sequence[Scored]) -> Replacement:
        """By distance from the end of each row."""
        width, classes = batch.tokens.shape[1], len(self.table) - _CLASSES
        index = torch.zeros(len(batch.tokens), width, dtype=torch.long)
        for row, number in enumerate(batch.examples.tolist()):
            n = input_length(examples[number])
            index[row, :n] = _entries(n, classes)
        return Replacement(self.table, index)


@dataclass(frozen=True)
class Resampled:
    """r from other rows of the task: ``pool`` holds those that may be drawn."""

    pool: Sequence[Scored]
    keys: Sequence[str] = ()

    def kind(self, example: Scored, number: int) -> int:
        """Each row has its own."""
        return number

    def drawn(self, keys: Sequence[str]) -> Resampled:
        """Draw by these keys."""
        return replace(self, keys=tuple(keys))

    def by_row(self, owners: Sequence[int]) -> Resampled:
        """Each row draws by its owner's key."""
        return self.drawn([self.keys[owner] for owner in owners]) if self.keys else self

    def of(self, model: HeadModel, batch: MicroBatch, examples: Sequence[Scored]) -> Replacement:
        """Raises ``Invalid`` (no-other-row) where the pool has nothing but the row itself."""
        rows = list(zip(batch.owners.tolist(), batch.examples.tolist(), strict=True))
        donors = [self._donor(self.keys[owner] if self.keys else "", examples[i]) for owner, i in rows]
        place = {donor: place for place, donor in enumerate(dict.fromkeys(donors))}
        table, starts = measured(model, [_input(self.pool[donor]) for donor in place])
        index = torch.zeros(batch.tokens.shape, dtype=torch.long)
        for row, (donor, (_, i)) in enumerate(zip(donors, rows, strict=True)):
            n = input_length(examples[i])
            aligned = _aligned(n, input_length(self.pool[donor]))
            index[row, :n] = starts[place[donor]] + aligned
        return Replacement(table, index)

    def _donor(self, key: str, example: Scored) -> int:
        """The pool's index of the row that stands for an example's; never the example itself."""
        asked = tuple(example.tokens[: min(example.targets)])
        digest = hashlib.sha256(f"{key}/{asked}".encode("ascii")).digest()
        first = int.from_bytes(digest[:8], "big") % max(len(self.pool), 1)
        for step in range(len(self.pool)):
            other = self.pool[(first + step) % len(self.pool)]
            if tuple(other.tokens[: min(other.targets)]) != asked:
                return (first + step) % len(self.pool)
        raise Invalid(
            "There is no other row of the task to take a closed head's output from.",
            "Use a task with more rows, or another ablation.",
            code="no-other-row",
        )


@dataclass(frozen=True)
class Paired:
    """r from each row's paired prompt."""

    def kind(self, example: Scored, number: int) -> int:
        """Each row has its own."""
        return number

    def drawn(self, keys: Sequence[str]) -> Paired:
        """Nothing is drawn."""
        return self

    def by_row(self, owners: Sequence[int]) -> Paired:
        """Nothing is drawn."""
        return self

    def of(self, model: HeadModel, batch: MicroBatch, examples: Sequence[Scored]) -> Replacement:
        """Raises ``Invalid`` (no-pairs) for an example without a paired prompt of its length."""
        numbers = list(dict.fromkeys(batch.examples.tolist()))
        table, starts = measured(model, [_paired(examples[number]) for number in numbers])
        start = dict(zip(numbers, starts, strict=True))
        index = torch.zeros(batch.tokens.shape, dtype=torch.long)
        for row, number in enumerate(batch.examples.tolist()):
            n = input_length(examples[number])
            index[row, :n] = start[number] + torch.arange(n)
        return Replacement(table, index)


def cut(
    model: HeadModel,
    rows: Sequence[tuple[int, int]],
    examples: Sequence[Scored],
    replacements: Replacements | None,
) -> list[MicroBatch]:
    """(owner, example index) rows as micro-batches for ``targets.target_logits``."""
    kind = _kind(replacements, examples)
    budget = budget_for(model.device)
    return micro_batches(rows, examples, model.info, budget, packed=model.packs(), kind=kind)


def at_rows(
    replacements: Replacements | None, model: HeadModel, batch: MicroBatch, examples: Sequence[Scored]
) -> Replacement | None:
    """r of a micro-batch; None for zero."""
    return None if replacements is None else replacements.of(model, batch, examples)


@torch.no_grad()
def mean_table(
    model: HeadModel, examples: Sequence[Scored], checkpoint: Callable[[], None] = lambda: None
) -> Float[torch.Tensor, "entry layer head d_head"]:
    """Means of z over examples, float32: at first tokens, at all others, then by distance from the end.

    Raises ``Invalid`` (no-examples) without any.
    """
    if not examples:
        raise Invalid("There are no rows to take means over.", "Name a task with rows.", code="no-examples")
    info = model.info
    longest = max(map(input_length, examples)) - 1
    each = 4 * info.n_layers * info.n_heads * info.d_head
    classes = max(0, min(longest, TABLE_BYTES // each - _CLASSES))
    shape = (_CLASSES + classes, info.n_layers, info.n_heads, info.d_head)
    total, count = torch.zeros(shape, dtype=torch.float64), torch.zeros(shape[0], dtype=torch.float64)
    rows = [(0, index) for index in range(len(examples))]
    for batch in micro_batches(rows, examples, info, budget_for(model.device)):
        checkpoint()
        lines = [_input(examples[number]) for number in batch.examples.tolist()]
        table, _ = measured(model, lines)
        places = torch.cat([_entries(len(line), classes) for line in lines])
        total.index_add_(0, places, table.cpu().double())
        count.index_add_(0, places, torch.ones(len(places), dtype=torch.float64))
    later = total[_LATER:].sum(dim=0) / count[_LATER:].sum().clamp(min=1)
    means = total / count.clamp(min=1)[:, None, None, None]
    means[_LATER:][count[_LATER:] < FEW] = later
    means[_LATER] = later
    return means.float()


@torch.no_grad()
def measured(
    model: HeadModel, rows: Sequence[Sequence[int]]
) -> tuple[Float[torch.Tensor, "entry layer head d_head"], list[int]]:
    """z at every position of these rows, one row after the other, and where each begins."""
    lengths = [len(row) for row in rows]
    tokens = torch.zeros(len(rows), max(lengths), dtype=torch.long)
    for number, row in enumerate(rows):
        tokens[number, : len(row)] = torch.as_tensor(tuple(row))
    layers = tuple(range(model.info.n_layers))
    with model.captured(layers, ("z",)) as found:
        model.logits_at(tokens.to(model.device), torch.zeros(1, 2, dtype=torch.long, device=model.device))
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    z = torch.stack([found[f"{layer}.z"][real.to(model.device)] for layer in layers], dim=1)
    starts = torch.tensor([0, *lengths[:-1]]).cumsum(0).tolist()
    return z, starts


def input_length(example: Scored) -> int:
    """How many of an example's tokens are input: those before its last target."""
    return max(example.targets)


def has_pair(example: Any) -> bool:
    """Whether an example has a paired prompt of its own length."""
    return getattr(example, "paired", None) is not None


def _kind(replacements: Replacements | None, examples: Sequence[Scored]) -> Callable[[int], int]:
    if replacements is None:
        return lambda number: 0
    return lambda number: replacements.kind(examples[number], number)


def _input(example: Scored) -> Sequence[int]:
    return example.tokens[: input_length(example)]


def _paired(example: Any) -> Sequence[int]:
    if not has_pair(example):
        raise Invalid(
            "A row has no paired prompt of its own length to take a closed head's output from.",
            "Use a task whose rows have paired prompts, or another ablation.",
            code="no-pairs",
        )
    pair: Sequence[int] = example.paired[: input_length(example)]
    return pair


def _entries(n: int, classes: int) -> Int[torch.Tensor, " n"]:
    """Entries of a table of means for a row of ``n`` input tokens."""
    distance = n - torch.arange(n)
    entries = torch.where(distance <= classes, _CLASSES - 1 + distance, _LATER)
    entries[0] = _FIRST
    return entries


def _aligned(n: int, of: int) -> Int[torch.Tensor, " n"]:
    """For each of ``n`` positions the one of another row of length ``of`` that stands for it."""
    places = torch.zeros(n, dtype=torch.long)
    if of > 1:
        distance = n - torch.arange(1, n)
        places[1:] = of - 1 - (distance - 1) % (of - 1)
    return places
