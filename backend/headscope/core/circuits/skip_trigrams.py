"""Skip trigrams of one head, "A ... B -> C", and the pairs that its factored form can't keep apart.

When the present token B looks back at A, the head adds OV[A, C] to the logit of C. With the tables of
core.circuits.tables, centred as a softmax sees them,

    q(B, A) = QK[B, A] - mean over keys      o(A, C) = OV[A, C] - mean over outputs
    score(A, B, C) = q(B, A) o(A, C) where both are above 0, else 0                          **choice**

A head looks at A for the sake of B alone and writes C for the sake of A alone. So one that raises
keep ... in -> mind and keep ... at -> bay must also raise keep ... in -> bay and keep ... at -> mind:
all four scores are products of the same two q and two o. Automatic search, per source A: among its
strongest destinations and outputs take the two pairs (B1, C1), (B2, C2) for which

    min(score(A, B1, C2), score(A, B2, C1)) * margin      is largest, where
    margin = D[B1, C1] + D[B2, C2] - D[B1, C2] - D[B2, C1]   in nats, D the bigram logits of the direct path:

the crossed pairs are pushed hard although the model's own bigrams say that they don't belong (**choice**).
Source: A Mathematical Framework for Transformer Circuits, 2021, "Skip-trigram bugs".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int

from headscope.core.circuits.tables import Table, table
from headscope.core.circuits.weights import Weights
from headscope.core.model.norms import norm_scale

BLOCK = 1024
"""Sources looked at together."""


@dataclass(frozen=True)
class Trigrams:
    """The strongest sources A of one head, the strongest first, each with its best B and C."""

    sources: Int[torch.Tensor, " source"]
    scores: Float[torch.Tensor, " source"]
    destinations: Int[torch.Tensor, "source near"]
    q: Float[torch.Tensor, "source near"]
    outputs: Int[torch.Tensor, "source near"]
    o: Float[torch.Tensor, "source near"]


@dataclass(frozen=True)
class Crossed:
    """Pairs (B1, C1), (B2, C2) of one source A; ``scores`` of B1 C1, B2 C2, and crossed B1 C2, B2 C1."""

    source: int
    first: tuple[int, int]
    second: tuple[int, int]
    q: tuple[float, float]
    o: tuple[float, float]
    margin: float

    @property
    def scores(self) -> tuple[float, float, float, float]:
        """Intended, intended, crossed, crossed."""
        (q1, q2), (o1, o2) = self.q, self.o
        return _score(q1, o1), _score(q2, o2), _score(q1, o2), _score(q2, o1)


@dataclass(frozen=True)
class HeadTables:
    """One head's centred tables over part of the vocabulary, and the direct path's bigrams over the same."""

    qk: Table
    ov: Table
    direct: Table


def head_tables(weights: Weights, layer: int, head: int, *, most: int | None = None) -> HeadTables:
    """The tables of one head over the tokenizer's first ``most`` tokens."""
    return HeadTables(
        table(weights, "qk", layer, head, most=most).centred(),
        table(weights, "ov", layer, head, most=most).centred(),
        bigrams(weights, most),
    )


def bigrams(weights: Weights, most: int | None = None) -> Table:
    """D: the logits of a model without layers, W_E W_U with the final norm's scale of each token."""
    plain = table(weights, "direct", most=most)
    scale = norm_scale(weights.bridge.ln_final, plain.left)
    return Table("direct", plain.left * scale[:, None], plain.right).centred()


def trigrams(
    tables: HeadTables, count: int, near: int = 8, checkpoint: Callable[[], None] = lambda: None
) -> Trigrams:
    """The ``count`` strongest sources, each with its ``near`` best destinations and outputs."""
    found = []
    sources = tables.ov.left.shape[0]
    for start in range(0, sources, BLOCK):
        checkpoint()
        keys = tables.qk.right[:, start : start + BLOCK]
        q = (tables.qk.left @ keys).topk(min(near, len(tables.qk.left)), dim=0)
        o = (tables.ov.left[start : start + BLOCK] @ tables.ov.right).topk(min(near, sources), dim=1)
        best = q.values[0].clamp_min(0) * o.values[:, 0].clamp_min(0)
        number = torch.arange(start, start + keys.shape[1], device=best.device)
        found.append((number, best, q.indices.T, q.values.T, o.indices, o.values))
    columns = [torch.cat(parts) for parts in zip(*found, strict=True)]
    order = columns[1].argsort(descending=True, stable=True)[:count]
    return Trigrams(*(column[order] for column in columns))


def crossed(tables: HeadTables, source: int, first: tuple[int, int], second: tuple[int, int]) -> Crossed:
    """The scores of two chosen pairs and of the crossed ones. Raises Invalid outside the vocabulary."""
    (b1, c1), (b2, c2) = first, second
    q = tables.qk.cells([b1, b2], [source])[:, 0]
    o = tables.ov.cells([source], [c1, c2])[0]
    direct = tables.direct.cells([b1, b2], [c1, c2])
    margin = direct[0, 0] + direct[1, 1] - direct[0, 1] - direct[1, 0]
    q1, q2, o1, o2 = (float(value) for value in (*q, *o))
    return Crossed(source, first, second, (q1, q2), (o1, o2), float(margin))


def largest_crossed(tables: HeadTables, found: Trigrams, count: int) -> list[Crossed]:
    """The worst pair of pairs of each source, the worst sources first; none where no margin is above 0."""
    pairs = []
    for place in range(len(found.sources)):
        best = _worst(tables, found, place)
        if best is not None:
            pairs.append(best)
    pairs.sort(key=lambda pair: -min(pair.scores[2:]) * pair.margin)
    return pairs[:count]


def _worst(tables: HeadTables, found: Trigrams, place: int) -> Crossed | None:
    B, C = found.destinations[place], found.outputs[place]
    product = found.q[place].clamp_min(0)[:, None] * found.o[place].clamp_min(0)[None]
    direct = tables.direct.cells(B.tolist(), C.tolist())
    # [b1, c1, b2, c2]
    margin = direct[:, :, None, None] + direct[None, None] - _spread(direct, "b1c2") - _spread(direct, "b2c1")
    unmeant = torch.minimum(_spread(product, "b1c2"), _spread(product, "b2c1"))
    value = unmeant * margin.clamp_min(0)
    at = int(value.argmax())
    if float(value.reshape(-1)[at]) <= 0:
        return None
    n, m = direct.shape
    b1, c1, b2, c2 = at // (m * n * m), at // (n * m) % m, at // m % n, at % m
    q, o = found.q[place], found.o[place]
    return Crossed(
        int(found.sources[place]),
        (int(B[b1]), int(C[c1])),
        (int(B[b2]), int(C[c2])),
        (float(q[b1]), float(q[b2])),
        (float(o[c1]), float(o[c2])),
        float(margin[b1, c1, b2, c2]),
    )


def _spread(grid: torch.Tensor, where: str) -> torch.Tensor:
    """[b, c] laid out on [b1, c1, b2, c2]: rows by b1 and columns by c2, or rows by b2 and columns by c1."""
    return grid[:, None, None, :] if where == "b1c2" else grid.T[None, :, :, None]


def _score(q: float, o: float) -> float:
    return max(q, 0.0) * max(o, 0.0)
