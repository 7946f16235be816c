"""Which planted models are fitted: sizes, forms and noise; which head does what is drawn by a seed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import torch

from headscope.errors import Invalid
from headscope.validation.planted import Head, Kind, Plan

Form = Literal["attention-only", "mlp", "grouped"]

FORMS: Final[Mapping[Form, str]] = {
    "attention-only": "attention only",
    "mlp": "with MLP",
    "grouped": "with MLP, two heads a group",
}


@dataclass(frozen=True)
class Size:
    """A model's shape; the stream is wider than what is planted in it needs."""

    n_layers: int
    n_heads: int
    vocab: int
    d_model: int


SIZES: Final[Mapping[str, Size]] = {
    "small": Size(2, 4, 12, 64),
    "medium": Size(3, 6, 12, 64),
    "large": Size(4, 8, 14, 72),
}

COPIED: Final = 4
"""Tokens repeated in an example: few, so that the whole takes minutes."""


@dataclass(frozen=True)
class Case:
    """One planted model; ``seed`` draws which head does what, and the noise."""

    size: str
    form: Form
    noise: float
    seed: int

    @property
    def name(self) -> str:
        """In words: "small, with MLP, noise 0.1"."""
        return f"{self.size}, {FORMS[self.form]}, noise {self.noise:g}"

    @property
    def plan(self) -> Plan:
        """The shape, and who does what."""
        size, mlp = SIZES[self.size], self.form != "attention-only"
        groups = size.n_heads // 2 if self.form == "grouped" else size.n_heads
        kinds = _placed(size, self.seed)
        return Plan(size.n_layers, size.n_heads, groups, size.vocab, size.d_model, kinds, mlp, 2 * COPIED + 2)


def sizes_named(name: str | None, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    """The size of a name, or those otherwise; ``Invalid`` (unknown-size)."""
    if name is None:
        return otherwise
    if name not in SIZES:
        raise Invalid(f"There is no size {name!r}.", f"Known: {', '.join(SIZES)}.", code="unknown-size")
    return (name,)


def cases(sizes: tuple[str, ...], noises: tuple[float, ...], seed: int, draws: int = 1) -> list[Case]:
    """Every size in every form at every noise, ``draws`` times over; each case has a seed of its
    own, counting up from ``seed``.
    """
    every = list(itertools.product(sizes, FORMS, noises)) * draws
    return [Case(*case, seed + number) for number, case in enumerate(every)]


def _placed(size: Size, seed: int) -> dict[Head, Kind]:
    """The spare ones side by side, as one group; two heads of layer 0 and two of later layers by kind."""
    source = torch.Generator().manual_seed(seed)
    every = [(layer, head) for layer in range(size.n_layers) for head in range(size.n_heads)]
    drawn = [every[i] for i in torch.randperm(len(every), generator=source).tolist()]
    layer, head = drawn[0]
    pair = ((layer, head - head % 2), (layer, head - head % 2 + 1))
    left = [head for head in drawn if head not in pair]
    first, later = ([head for head in left if (head[0] == 0) == is_first] for is_first in (True, False))
    return {
        pair[0]: "spare",
        pair[1]: "spare",
        first[0]: "previous",
        first[1]: "copier",
        later[0]: "induction",
        later[1]: "against",
    }
