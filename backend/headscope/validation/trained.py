"""Two small trained models whose circuit is known by trying every set of heads.

``again`` repeats a few random tokens: two layers; they come back at one distance, so that one head that looks
so far back does nearly all, and no induction is needed. ``largest`` names the largest of a list: one layer.
They were trained with one head a layer and put among others, as compiled programs are (``compiled.widened``).
All 2^heads sets of heads can be evaluated, so that a head's value is exact and owes nothing to where one
starts:

    value(h) = least loss of any set without h - least loss of any set at all      (nats a target token)

A head is needed where that is at least ``MUCH``: no choice of the others makes up for it; useless where it is
at most ``LITTLE``; between the two it has no role. ``train_circuits`` made the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
import torch
from jaxtyping import Float

from headscope.core.gating.evaluation import evaluate
from headscope.core.model.head_model import HeadModel
from headscope.tasks.task import Example
from headscope.validation.compiled import FOLDER, widened
from headscope.validation.known import DrawnTask, Known
from headscope.validation.model import model_of
from headscope.validation.planted import Head, Role
from headscope.validation.premises import MUCH
from headscope.validation.task import planted_examples

VOCAB: Final = 16
START: Final = VOCAB - 1
LITTLE: Final = 0.01
LISTED: Final = 6
"""Tokens of a list, or of what is repeated."""


def repeated(n: int, seed: int) -> Sequence[Example]:
    """A few tokens twice; the second copy is asked for."""
    return planted_examples(n, seed, VOCAB, LISTED)


def largest(n: int, seed: int) -> Sequence[Example]:
    """A list of tokens, and at its end the largest of them."""
    source = torch.Generator().manual_seed(seed)
    drawn = torch.randint(1, START, (n, LISTED), generator=source)
    return [Example((START, *row, 0, max(row)), (LISTED + 2,)) for row in drawn.tolist()]


TASKS: Final[Mapping[str, tuple[str, Callable[[int, int], Sequence[Example]]]]] = {
    "again": ("a few tokens again", repeated),
    "largest": ("the largest of a list", largest),
}


def known(name: str, seed: int = 0) -> Known:
    """The model, its task, and the heads that no choice of others makes up for."""
    title, draw = TASKS[name]
    with np.load(FOLDER / f"trained-{name}.npz", allow_pickle=False) as file:
        arrays = {**file, "writes": np.full(file["W_Q"].shape[:2], "trained")}
    weights, _ = widened(arrays, seed)
    model = model_of(weights, f"trained-{name}", START, revision="trained")
    task = DrawnTask(f"trained-{name}", draw)
    value = exhaustive(model, task.examples(None, "test"))
    needed, useless = (
        tuple((int(layer), int(head)) for layer, head in np.argwhere(has))
        for has in (value >= MUCH, value <= LITTLE)
    )
    roles: dict[Role, tuple[Head, ...]] = {
        "needed": needed,
        "harmful": (),
        "redundant": (),
        "useless": useless,
    }
    return Known(f"trained: {title}", model, task, roles)


def exhaustive(model: HeadModel, examples: Sequence[Example]) -> Float[np.ndarray, "layer head"]:
    """Each head's value by all sets of heads, nats a target token."""
    n_layers, n_heads = model.info.n_layers, model.info.n_heads
    n = n_layers * n_heads
    sets = (torch.arange(2**n)[:, None] >> torch.arange(n)) & 1
    loss = -evaluate(model, examples, sets.float().view(-1, n_layers, n_heads)).log_probability
    without = torch.stack([loss[sets[:, head] == 0].min() for head in range(n)])
    return np.asarray((without - loss.min()).view(n_layers, n_heads))
