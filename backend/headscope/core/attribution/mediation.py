"""Causal mediation: what one head's z, put into another context, does to the answer.

Function vectors [Todd et al. 2024, arXiv 2310.15213]. z-mean is a head's mean z at the last token over clean
prompts. Put into a prompt whose labels are shuffled, at the last token,

    effect = p(first target token | head's z := z-mean) - p(first target token)

Abstract rules [Yang et al. 2025, arXiv 2502.20332, algorithm 1]. z of a base context is put into another one
at chosen positions; y is what that context asks for, y* what it would ask for if the head carried what is
supposed:

    score = [logit(y*) - logit(y)] patched - [logit(y*) - logit(y)] unpatched
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float

from headscope.core.model.batches import Scored, budget_for, micro_batches
from headscope.core.model.head_model import HeadModel
from headscope.core.model.patching import (
    Patches,
    every_head,
    patched,
    read_z,
)
from headscope.core.model.resuming import LastToken, Suffix
from headscope.errors import Invalid


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Means:
    """Heads' mean z where the answer is due, and how well the model answers there."""

    z: Float[torch.Tensor, "layer head d_head"]
    probability: Float[torch.Tensor, " example"]
    right: Float[torch.Tensor, " example"]


@dataclass(frozen=True)
class Effects:
    """One prompt: p(first target token) without a patch, whether it is on top, and its rise by head."""

    probability: float
    right: bool
    rise: Float[torch.Tensor, "layer head"]


def mean_z(model: HeadModel, examples: Sequence[Scored], checkpoint: Callable[[], None] = _nothing) -> Means:
    """Mean over examples of z at the token before the first target; probabilities of that target."""
    info, n = model.info, len(examples)
    total = torch.zeros(info.n_layers, info.n_heads, info.d_head, dtype=torch.float64)
    probability, right = torch.zeros(2, n, dtype=torch.float64)
    firsts = [_first(example) for example in examples]
    for batch in micro_batches([(0, i) for i in range(n)], firsts, info, budget_for(model.device)):
        checkpoint()
        z, logits = read_z(model, batch.tokens, batch.where)
        total += z.double().sum(0)
        probability[batch.examples] = logits.double().softmax(-1).gather(1, batch.answers[:, None])[:, 0]
        right[batch.examples] = (logits.argmax(-1) == batch.answers).double()
    return Means(total / max(n, 1), probability, right)


def effects(
    model: HeadModel,
    example: Scored,
    z: Float[torch.Tensor, "layer head d_head"],
    checkpoint: Callable[[], None] = _nothing,
) -> Effects:
    """The rise of p(first target token) when each head's z at the token before it is the one given."""
    first = _first(example)
    prompt, answer = first.tokens[:-1], first.tokens[-1]
    heads = every_head(model)
    patches = Patches(heads, (len(prompt) - 1,), z.flatten(0, 1)[:, None])

    def read(logits: torch.Tensor) -> torch.Tensor:
        # in float32 even for a bfloat16 model, whose probabilities have three digits
        precise = logits if logits.dtype == torch.float64 else logits.float()
        top = (precise.argmax(-1) == answer).to(precise)
        return torch.stack([precise.log_softmax(-1)[:, answer].exp(), top], 1)

    before, after = patched(LastToken(model, prompt), patches, read, checkpoint)
    rise = (after[:, 0] - before[0]).view(model.info.n_layers, model.info.n_heads)
    return Effects(float(before[0]), bool(before[1]), rise)


@runtime_checkable
class Pair(Protocol):
    """A base context and another of the same length, what each asks for, and what the other one is expected
    to ask for once a head carries what it does in the base: y* of the module.
    """

    @property
    def base(self) -> Sequence[int]: ...  # noqa: D102

    @property
    def other(self) -> Sequence[int]: ...  # noqa: D102

    @property
    def base_answer(self) -> int: ...  # noqa: D102

    @property
    def other_answer(self) -> int: ...  # noqa: D102

    @property
    def expected(self) -> int: ...  # noqa: D102


def answered(model: HeadModel, pair: Pair) -> bool:
    """Whether the right token is on top in both contexts."""
    check_alike(pair)
    tokens = torch.tensor([list(pair.base), list(pair.other)], device=model.device)
    last = torch.tensor([[0, len(pair.base) - 1], [1, len(pair.other) - 1]])
    with torch.no_grad():
        top = model.logits_at(tokens, last).argmax(-1).tolist()
    return bool(top == [pair.base_answer, pair.other_answer])


def scores(
    model: HeadModel, pair: Pair, positions: Sequence[int], checkpoint: Callable[[], None] = _nothing
) -> Float[torch.Tensor, "layer head"]:
    """Each head's score, in logits, with z of the base context at these positions of the other one."""
    check_alike(pair)
    where = torch.tensor([[0, position] for position in positions])
    base, _ = read_z(model, torch.tensor([list(pair.base)], device=model.device), where)
    z = base.permute(1, 2, 0, 3).flatten(0, 1)
    patches = Patches(every_head(model), tuple(positions), z)

    def read(logits: torch.Tensor) -> torch.Tensor:
        precise = logits if logits.dtype == torch.float64 else logits.float()
        return precise[:, pair.expected] - precise[:, pair.other_answer]

    before, after = patched(Suffix(model, pair.other, min(positions)), patches, read, checkpoint)
    return (after - before).view(model.info.n_layers, model.info.n_heads)


def check_alike(pair: Pair) -> None:
    """Raise Invalid (unlike-prompts) for contexts of different lengths: no position of one is the other's."""
    if len(pair.base) != len(pair.other):
        raise Invalid(
            f"The two contexts have {len(pair.base)} and {len(pair.other)} tokens: positions of one have no "
            "place in the other.",
            "Use items that are one token each for this model's tokenizer.",
            code="unlike-prompts",
        )


@dataclass(frozen=True)
class _First:
    """An example cut after its first target token."""

    tokens: tuple[int, ...]
    targets: tuple[int, ...]


def _first(example: Scored) -> _First:
    place = min(example.targets)
    return _First(tuple(example.tokens[: place + 1]), (place,))
