"""Programs that Tracr compiled to weights, as models whose heads' roles are known.

A program answers at the last position of its input: one target token an example. The compiler says which
head writes which value, and the program whether the answer depends on it; such a head is needed. A program
alone has hardly any other head, so each is put among others that do something and nothing for the answer:

1. every layer gets ``N_HEADS`` heads, the program's own at places drawn by a seed;
2. the others look at random and write at random into ``BESIDE`` directions of their own, which the
   unembedding reads: some ``FAINT`` a logit, for nothing: useless. They don't touch the program's own
   directions, where its MLPs tell a third from a fourth.

``compile_programs`` makes the files; ``answer`` is the program in Python, which the weights must agree with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headscope.tasks.task import Example
from headscope.validation.known import DrawnTask, Known
from headscope.validation.model import model_of
from headscope.validation.planted import Head, Role, Weights

FOLDER: Final = Path(__file__).parent / "programs"
LETTERS: Final = ("a", "b", "c", "d", "e", "f")
ASK: Final = ("1st", "2nd", "3rd", "4th")
SORTED: Final = 3
"""Tokens that the program ``order`` sorts."""

N_HEADS: Final = 4
BESIDE: Final = 8
FAINT: Final = 0.02

Words = tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """``draw`` makes an input, without the token that goes first; ``answer`` is what should follow it."""

    name: str
    title: str
    draw: Callable[[np.random.Generator], Words]
    answer: Callable[[Words], str]
    idle: tuple[str, ...] = ()
    """Values that are computed though the answer doesn't depend on them."""


def _letters(n: int, of: int) -> Callable[[np.random.Generator], Words]:
    return lambda source: tuple(str(word) for word in source.choice(LETTERS[:of], n))


def _repeated(source: np.random.Generator) -> Words:
    """Different letters, and one of them again that isn't the last."""
    words = tuple(str(word) for word in source.permutation(LETTERS))
    return (*words, words[source.integers(len(words) - 1)])


def _unsorted(source: np.random.Generator) -> Words:
    words = tuple(str(word) for word in source.permutation(LETTERS)[:SORTED])
    return (*words, *words, ASK[source.integers(SORTED)])


def _with_copies(source: np.random.Generator) -> Words:
    words = _letters(5, 4)(source)
    return (*words, ASK[source.integers(len(set(words)))])


PROGRAMS: Final[Mapping[str, Program]] = {
    program.name: program
    for program in (
        Program("previous", "the token before", _letters(7, 6), lambda words: words[-2]),
        Program("induction", "what came after it before", _repeated,
                lambda words: words[words.index(words[-1]) + 1]),
        Program("count", "how often it has come", _letters(7, 4), lambda words: str(words.count(words[-1]))),
        Program("order", "the j-th smallest", _unsorted,
                lambda words: sorted(set(words[:SORTED]))[ASK.index(words[-1])]),
        Program("distinct", "the j-th without copies", _with_copies,
                lambda words: list(dict.fromkeys(words[:-1]))[ASK.index(words[-1])]),
        Program("bystander", "the token before, beside an idle count", _letters(5, 4),
                lambda words: words[-2], idle=("count",)),
    )
}  # fmt: skip


def known(name: str, seed: int = 0) -> Known:
    """A program among other heads; ``seed`` draws where its heads are and the others' weights."""
    program, arrays = PROGRAMS[name], _arrays(name)
    weights, needed = widened(arrays, seed, program.idle)
    words = arrays["words"].tolist()
    model = model_of(weights, f"compiled-{name}", words.index("bos"), revision="compiled")

    def examples(n: int, source: int) -> Sequence[Example]:
        return drawn(program, words, n, source)

    every = [(layer, head) for layer in range(model.info.n_layers) for head in range(N_HEADS)]
    useless = tuple(head for head in every if head not in needed)
    roles: dict[Role, tuple[Head, ...]] = {
        "needed": needed,
        "harmful": (),
        "redundant": (),
        "useless": useless,
    }
    return Known(f"program: {program.title}", model, DrawnTask(f"compiled-{name}", examples), roles)


def drawn(program: Program, words: Sequence[str], n: int, seed: int) -> list[Example]:
    """Random inputs with their answer as the only target, as ids of ``words``."""
    source = np.random.default_rng(seed)
    examples = []
    for _ in range(n):
        given = program.draw(source)
        tokens = tuple(words.index(word) for word in ("bos", *given, program.answer(given)))
        examples.append(Example(tokens, (len(tokens) - 1,)))
    return examples


def widened(
    arrays: Mapping[str, np.ndarray], seed: int, idle: tuple[str, ...] = ()
) -> tuple[Weights, tuple[Head, ...]]:
    """The weights with ``N_HEADS`` heads a layer, and the places of the heads that the answer depends on:
    those that write something, and nothing ``idle``.
    """
    source = torch.Generator().manual_seed(seed)
    own = {name: torch.tensor(array, dtype=torch.float64) for name, array in arrays.items() if name[0] == "W"}
    n_layers, n_own, d_own, d_head = own["W_Q"].shape
    d_model = d_own + BESIDE
    shape = (n_layers, N_HEADS, d_model, d_head)
    read = {name: _normal(shape, source, d_model**-0.5) for name in ("W_Q", "W_K", "W_V")}
    W_O = torch.zeros(n_layers, N_HEADS, d_head, d_model, dtype=torch.float64)
    W_O[..., d_own:] = _normal((n_layers, N_HEADS, d_head, BESIDE), source, d_head**-0.5)
    needed: list[Head] = []
    for layer in range(n_layers):
        places = torch.randperm(N_HEADS, generator=source)[:n_own].tolist()
        for number, place in enumerate(places):
            writes = str(arrays["writes"][layer, number])
            if not writes:
                continue
            for name, matrices in read.items():
                matrices[layer, place] = _wider(own[name][layer, number], rows=d_model)
            W_O[layer, place] = _wider(own["W_O"][layer, number], columns=d_model)
            if not any(writes.startswith(value) for value in idle):
                needed.append((layer, place))
    W_U = _wider(own["W_U"], rows=d_model)
    W_U[d_own:] = _normal((BESIDE, W_U.shape[1]), source, FAINT * BESIDE**-0.5)
    weights = Weights(
        W_E=_wider(own["W_E"], columns=d_model),
        W_pos=_wider(own["W_pos"], columns=d_model),
        **read,
        W_O=W_O,
        W_U=W_U,
        W_in=_wider(own["W_in"], rows=d_model) if "W_in" in own else None,
        W_out=_wider(own["W_out"], columns=d_model) if "W_out" in own else None,
    )
    return weights, tuple(sorted(needed))


def _wider(matrix: Tensor, rows: int | None = None, columns: int | None = None) -> Tensor:
    """With zeros below, or to the right, up to this size."""
    below = 0 if rows is None else rows - matrix.shape[-2]
    right = 0 if columns is None else columns - matrix.shape[-1]
    return torch.nn.functional.pad(matrix, (0, right, 0, below))


def _normal(shape: tuple[int, ...], source: torch.Generator, deviation: float) -> Float[Tensor, "..."]:
    return torch.randn(shape, generator=source, dtype=torch.float64) * deviation


def _arrays(name: str) -> dict[str, np.ndarray]:
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as file:
        return dict(file)
