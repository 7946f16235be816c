"""Examples cut into micro-batches of bounded work.

1. Rows (an example and whose gates it runs under) are sorted by length, longest first; where they will be
   packed (``core.model.packing``), by gates and beginning instead, so that rows which begin alike are
      neighbours.
2. They are cut where the work of a forward pass would exceed a budget of FLOP and bytes. The budget is a
   number and never a clock, so that the same request is summed in the same order on a slow and on a fast day.
3. What still differs in length within a piece is padded on the right, unless packed: attention is causal, so
   no real position sees the padding, and no target lies on it. Padded equals unpadded, packed equals both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int

from headscope.core.model.cost import (
    ACCELERATOR_BUDGET,
    CPU_BUDGET,
    Budget,
    shared,
)
from headscope.core.model.info import ModelInfo
from headscope.core.model.packing import Packing, pack
from headscope.errors import Invalid

_PADDING = 0


@runtime_checkable
class Scored(Protocol):
    """What a fit reads of an example: ``tokens``, and the positions in them that carry loss."""

    @property
    def tokens(self) -> Sequence[int]: ...  # noqa: D102

    @property
    def targets(self) -> Sequence[int]: ...  # noqa: D102


@dataclass(frozen=True)
class MicroBatch:
    """Rows of similar length that are computed at once.

    ``owners`` tells whose gates each row runs under, ``examples`` which example it is; ``where`` are the
    (row, position) pairs whose logits are read, ``answers`` the token that belongs there and ``weights`` one
    over the number of target tokens of its row. ``packing``, where it was asked for, is the same for
    ``HeadModel.target_logits``.
    """

    tokens: Int[torch.Tensor, "row pos"]
    owners: Int[torch.Tensor, " row"]
    examples: Int[torch.Tensor, " row"]
    where: Int[torch.Tensor, "target 2"]
    answers: Int[torch.Tensor, " target"]
    weights: Float[torch.Tensor, " target"]
    packing: Packing | None = None


def check_examples(examples: Sequence[Scored], n_ctx: int, split: str) -> None:
    """Raise ``Invalid`` where there is nothing to score, a target is missing or misplaced, or the context is
    too short.
    """
    if not examples:
        raise Invalid(
            f"The task has no {split} examples.",
            "Add rows, or raise the limit on examples.",
            code="no-examples",
        )
    for number, example in enumerate(examples, start=1):
        length = len(example.tokens)
        if length > n_ctx:
            raise Invalid(
                f"{split} example {number} has {length} tokens; the model's context holds {n_ctx}.",
                "Use fewer in-context examples or shorter rows.",
                code="too-long",
            )
        if not example.targets or not all(1 <= p < length for p in example.targets):
            raise Invalid(
                f"{split} example {number} has no target token that a prediction could stand for.",
                "Give each row a prompt and a target of at least one token each.",
                code="no-target",
            )


def budget_for(device: torch.device) -> Budget:
    """What one forward pass of a micro-batch may cost on this kind of device."""
    return CPU_BUDGET if device.type == "cpu" else ACCELERATOR_BUDGET


def micro_batches(
    rows: Sequence[tuple[int, int]],
    examples: Sequence[Scored],
    info: ModelInfo,
    budget: Budget,
    *,
    packed: bool | None = None,
    kind: Callable[[int], int] = lambda example: 0,
) -> list[MicroBatch]:
    """Cut (owner, example index) rows into pieces of similar length and at most ``budget`` a forward pass.

    A single row is never cut, even where it costs more. ``packed`` says that pieces go to ``target_logits``,
    and whether the model packs them (``HeadModel.packs``); examples of different ``kind`` share no beginning.
    """
    if packed:
        ordered = sorted(rows, key=lambda row: (row[0], kind(row[1]), tuple(examples[row[1]].tokens)))
    else:
        ordered = sorted(rows, key=lambda row: -len(examples[row[1]].tokens))
    read = [_input(examples[i]) if packed is not None else examples[i].tokens for _, i in ordered]
    kept = [0] * len(rows)
    if packed:
        lines = [((owner, kind(i)), line) for (owner, i), line in zip(ordered, read, strict=True)]
        kept = [shared(before, line) for before, line in zip([None, *lines], lines, strict=False)]

    priced = cache(partial(budget.share, info))

    def cost(row: int, begun: int) -> float:
        return priced(len(read[row]) - begun, len(examples[ordered[row][1]].targets))

    total = sum(cost(row, kept[row]) for row in range(len(rows)))
    share = total / max(1, math.ceil(total))
    pieces: list[list[tuple[int, int]]] = []
    filled = math.inf
    for row, begun in enumerate(kept):
        if filled + cost(row, begun) > 1 or filled >= share:
            pieces.append([])
            filled, begun = 0.0, 0
        pieces[-1].append(ordered[row])
        filled += cost(row, begun)
    return [_stack(piece, examples, kind if packed is not None else None) for piece in pieces]


def _input(example: Scored) -> Sequence[int]:
    """What of an example is input: the tokens before its last target."""
    return example.tokens[: max(example.targets)]


def _stack(
    piece: Sequence[tuple[int, int]], examples: Sequence[Scored], kind: Callable[[int], int] | None
) -> MicroBatch:
    longest = max(len(examples[i].tokens) for _, i in piece)
    lines: list[list[int]] = []
    where, answers, weights = [], [], []
    for row, (_, index) in enumerate(piece):
        example = examples[index]
        lines.append([*example.tokens, *[_PADDING] * (longest - len(example.tokens))])
        for position in example.targets:
            where.append((row, position - 1))
            answers.append(example.tokens[position])
            weights.append(1.0 / len(example.targets))
    return MicroBatch(
        tokens=torch.tensor(lines),
        owners=torch.tensor([owner for owner, _ in piece]),
        examples=torch.tensor([index for _, index in piece]),
        where=torch.tensor(where),
        answers=torch.tensor(answers),
        weights=torch.tensor(weights, dtype=torch.float64),
        packing=None
        if kind is None
        else pack([(owner, _input(examples[i])) for owner, i in piece], where, [kind(i) for _, i in piece]),
    )
