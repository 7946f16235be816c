"""A head's token tables, and the largest of their cells, without ever forming a vocab x vocab matrix.

    OV [source, output]  = W_E W_V W_O W_U              what a head adds to the logits for a token it looks at
    QK [query, key]      = W_E W_Q W_K^T W_E^T / scale  how much a query's token looks at a key's
    direct [token, next] = W_E W_U                      the bigram table: what the stream says without heads

Each is left [n, r] times right [r, m], r = d_head (d_model for the direct path). The largest cells come from
tiles with a running top k: of each tile only rows whose own maximum reaches the k-th largest so far are
looked into. Memory is one tile; the result is exact.

The norm's scale before each reader is left out: cells of one head are comparable, cells of two are not.
Source: A Mathematical Framework for Transformer Circuits, 2021.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float, Int

from headscope.core.circuits.weights import Weights
from headscope.errors import Invalid, TooLarge

Circuit = Literal["ov", "qk", "direct"]

TILE = (512, 4096)
"""Rows and columns of the table that are formed at once: few enough to stay in a processor's cache."""

MOST_FLOP = 2e12
"""A table that someone waits for: 20 s on two cores."""


@dataclass(frozen=True)
class Cells:
    """Cells of a table, the largest first: ``rows``, ``columns`` are token ids."""

    rows: Int[torch.Tensor, " cell"]
    columns: Int[torch.Tensor, " cell"]
    values: Float[torch.Tensor, " cell"]


@dataclass(frozen=True)
class Table:
    """A vocab x vocab table in its two factors; cell [i, j] is left[i] . right[:, j]."""

    circuit: Circuit
    left: Float[torch.Tensor, "row rank"]
    right: Float[torch.Tensor, "rank column"]

    def row(self, token: int) -> Float[torch.Tensor, " column"]:
        """OV: all outputs of one source; QK: all keys for one query. Raises Invalid for no token."""
        return self.left[self._known(token, len(self.left))] @ self.right

    def column(self, token: int) -> Float[torch.Tensor, " row"]:
        """OV: all sources that raise one output; QK: all queries for one key."""
        return self.left @ self.right[:, self._known(token, self.right.shape[1])]

    def cells(self, rows: Sequence[int], columns: Sequence[int]) -> Float[torch.Tensor, "rows columns"]:
        """Chosen rows at chosen columns."""
        for token in rows:
            self._known(token, len(self.left))
        for token in columns:
            self._known(token, self.right.shape[1])
        return self.left[list(rows)] @ self.right[:, list(columns)]

    def centred(self) -> Table:
        """Each row minus its mean: a softmax over the columns is the same."""
        return Table(self.circuit, self.left, self.right - self.right.mean(1, keepdim=True))

    def largest(self, count: int, checkpoint: Callable[[], None] = lambda: None) -> Cells:
        """The largest cells of the whole table.

        Raises TooLarge where it takes more than ``MOST_FLOP``: ask for one token's row or column then.
        """
        flop = 2.0 * self.left.numel() * self.right.shape[1]
        if flop > MOST_FLOP:
            raise TooLarge(
                f"The whole table has {len(self.left):,} x {self.right.shape[1]:,} cells of rank "
                f"{self.left.shape[1]:,}: {flop / 1e12:.1f} TFLOP, where {MOST_FLOP / 1e12:.0f} are allowed.",
                "Ask for one token's row or column, or run the analysis skip-trigrams on part of the "
                "vocabulary.",
                code="table-too-large",
            )
        return largest_cells(self.left, self.right, count, checkpoint)

    @staticmethod
    def _known(token: int, size: int) -> int:
        if not 0 <= token < size:
            raise Invalid(
                f"Token {token} is not in the vocabulary.", f"Ids run 0-{size - 1}.", code="unknown-token"
            )
        return token


def table(
    weights: Weights, circuit: Circuit, layer: int = 0, head: int = 0, *, most: int | None = None
) -> Table:
    """One head's OV or QK table, or the direct path's, over the tokens that the tokenizer knows.

    ``most`` takes only the first so many ids: in a BPE vocabulary the most frequent ones. Raises Invalid for
    a layer or head there isn't.
    """
    n = min(weights.n_tokens, most or weights.n_tokens)
    W_E = weights.W_E[:n]
    if circuit == "direct":
        return Table(circuit, W_E, weights.W_U[:, :n])
    part = weights.layer(layer)
    if not 0 <= head < weights.info.n_heads:
        raise Invalid(
            f"Head {head} of {weights.info.n_heads}.",
            f"Heads run 0-{weights.info.n_heads - 1}.",
            code="no-head",
        )
    if circuit == "ov":
        return Table(circuit, W_E @ part.W_V[head], part.W_O[head] @ weights.W_U[:, :n])
    keys = W_E @ part.W_K[head]
    return Table(circuit, W_E @ part.W_Q[head] / weights.score_scale(layer), keys.T)


def largest_cells(
    left: Float[torch.Tensor, "row rank"],
    right: Float[torch.Tensor, "rank column"],
    count: int,
    checkpoint: Callable[[], None] = lambda: None,
) -> Cells:
    """The ``count`` largest cells of left @ right, by tiles; equal cells in no certain order."""
    columns = right.shape[1]
    strips = [(start, right[:, start : start + TILE[1]].contiguous()) for start in range(0, columns, TILE[1])]
    buffer = left.new_empty(TILE[0] * TILE[1])
    values, places = left.new_empty(0), torch.empty(0, dtype=torch.long, device=left.device)
    for top in range(0, len(left), TILE[0]):
        checkpoint()
        rows = left[top : top + TILE[0]]
        for start, strip in strips:
            width = strip.shape[1]
            product = torch.mm(rows, strip, out=buffer[: len(rows) * width].view(len(rows), width))
            least = values[-1] if len(values) >= count else -torch.inf
            worth = (product.amax(1) > least).nonzero()[:, 0]
            if not len(worth):
                continue
            found = product[worth].reshape(-1).topk(min(count, len(worth) * width))
            inside = (worth[found.indices // width] + top) * columns + found.indices % width + start
            values, places = torch.cat([values, found.values]), torch.cat([places, inside])
            order = values.argsort(descending=True, stable=True)[:count]
            values, places = values[order], places[order]
    return Cells(places // columns, places % columns, values)


def best(scores: Float[torch.Tensor, " token"], count: int) -> Cells:
    """The largest entries of one row or column; both ``rows`` and ``columns`` are the token."""
    found = scores.topk(min(count, len(scores)))
    return Cells(found.indices, found.indices, found.values)
