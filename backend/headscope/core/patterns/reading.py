"""What every head does on a prompt, from one forward pass.

As each layer's attention pattern A [head, query, key] is made, it is reduced to scores and a thumbnail, and
dropped. i is a query's position and p a position where token i stood before. [Olsson et al. 2022] for
induction and prefix matching. The first query has nothing to choose and counts nowhere.

1. induction: mean A[i, p+1], p the latest, over queries with p+1 < i
2. prefix: mean, over queries with any p+1 < i, of the sum of A[i, p+1] over all those p
3. duplicate: mean over repeats of the sum of A[i, p] over all p
4. previous: mean A[i, i-1];  5. current: mean A[i, i];  6. sink: mean A[i, 0]
7. entropy: mean of -sum over keys of A log A, nats

These are weights as they are; ``core.patterns.above`` takes from three of them what their columns get anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from jaxtyping import Float, Float32, UInt8, UInt16

from headscope.core.model.head_model import HeadModel
from headscope.core.patterns.above import targets
from headscope.core.patterns.repetition import Repetition
from headscope.core.patterns.scores import SCORES

MOST_THUMB_BYTES: Final = 700_000
"""All thumbnails of a model together."""

_ENTROPY_BLOCK: Final = 256

_CELLS_AT_ONCE: Final = 2**20
"""Of patterns that wait to be reduced together: 4 MB in float32, which the cache still holds."""

NO_KEY: Final = 65_535
"""Stands where a row has fewer keys than were asked for."""


@dataclass(frozen=True, eq=False)
class Thumbs:
    """Every head's pattern at a glance: exact where ``block`` is 1, else the largest of each block's square.

    ``values`` [layer, head, size(size+1)/2] are rows of the lower triangle; a weight is (value / 255)².
    ``sinks`` are the shares of a learned sink, the same way, where there is one.
    """

    size: int
    block: int
    values: UInt8[np.ndarray, "layer head cell"]
    sinks: UInt8[np.ndarray, "layer head size"] | None = None


@dataclass(frozen=True, eq=False)
class Look:
    """All heads on one prompt.

    ``values`` [score, layer, head], in ``SCORES``' order; NaN where the prompt gives none. ``excess``: of
    each score in ``ABOVE``, what every query with a target gives it above the columns' level (``above``).
    ``loss`` [pos], nats of each token as predicted by those before, NaN for the first. ``sink``: mean
    attention on the first token.
    """

    values: Float32[np.ndarray, "score layer head"]
    excess: tuple[Float32[np.ndarray, "layer head _"], ...]
    loss: Float32[np.ndarray, " pos"]
    sink: float
    thumbs: Thumbs | None

    @property
    def above(self) -> Float32[np.ndarray, "score layer head"]:
        """Means over queries, in the order of ``ABOVE``; NaN where no query has a target."""
        return np.stack([_mean(each) for each in self.excess])


def look(
    model: HeadModel,
    ids: Sequence[int],
    copies: Sequence[Sequence[int]],
    *,
    weighted: bool = False,
    most_thumb_bytes: int = MOST_THUMB_BYTES,
) -> Look:
    """Scores, losses and thumbnails of all heads on one prompt, from one forward pass.

    ``copies`` are those of ``core.patterns.repeats``. ``weighted`` weighs each key by the norm of its value
    vector [after Kobayashi et al. 2020] and lets rows sum to 1 again. ``most_thumb_bytes`` 0: no thumbnails.
    Gates act where a ``gated`` context is open. Raises Invalid beyond the context.
    """
    return looks(model, [ids], [copies], weighted=weighted, most_thumb_bytes=most_thumb_bytes)[0]


@torch.no_grad()
def looks(
    model: HeadModel,
    rows: Sequence[Sequence[int]],
    copies: Sequence[Sequence[Sequence[int]]],
    *,
    weighted: bool = False,
    most_thumb_bytes: int = MOST_THUMB_BYTES,
) -> list[Look]:
    """``look`` at several prompts in one pass; shorter ones are padded on the right, to no effect."""
    readers = [_Reader(model, before, weighted, most_thumb_bytes) for before in copies]
    longest = max(len(row) for row in rows)
    tokens = torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows], device=model.device)

    def visit(layer: int, pattern: torch.Tensor, norms: torch.Tensor | None) -> None:
        for row, reader in enumerate(readers):
            reader.read(layer, pattern[row], None if norms is None else norms[row])

    with model.reading(visit, values=weighted):
        losses = model.losses(tokens).cpu()
    return [reader.look(loss) for reader, loss in zip(readers, losses, strict=True)]


def score_pattern(
    pattern: Float[torch.Tensor, "head query key"], copies: Sequence[Sequence[int]] | Repetition
) -> Float32[torch.Tensor, "score head"]:
    """``SCORES`` of one layer's pattern; NaN where nothing repeats, or there is only one token."""
    where = copies if isinstance(copies, Repetition) else Repetition.of(copies, pattern.device)
    pattern = pattern.float()
    heads, length = pattern.shape[:2]
    late = torch.arange(1, length, device=pattern.device)
    cells = pattern.reshape(heads, -1)
    return torch.stack(
        [
            pattern[:, where.queries, where.latest + 1].mean(-1),
            cells @ where.following.flatten() / _count(where.following.any(1).nonzero()),
            cells @ where.earlier.flatten() / _count(where.repeats),
            pattern[:, late, late - 1].mean(-1),
            pattern[:, late, late].mean(-1),
            pattern[:, 1:, 0].mean(-1),
            _entropies(pattern)[:, 1:].mean(-1),
        ]
    )


def quantise(pattern: Float[torch.Tensor, "*axes"]) -> UInt8[torch.Tensor, "*axes"]:
    """Weights in [0, 1] as bytes: round(255 sqrt(weight)). Small weights keep more of their digits so."""
    return pattern.float().clamp(0, 1).sqrt().mul(255).round().to(torch.uint8)


def pack(pattern: Float[torch.Tensor, "*axes query key"]) -> UInt8[torch.Tensor, "*axes cell"]:
    """The rows of the lower triangle one after another, quantised."""
    rows, columns = torch.tril_indices(*pattern.shape[-2:], device=pattern.device)
    return quantise(pattern[..., rows, columns])


def pool(
    pattern: Float[torch.Tensor, "head query key"], block: int
) -> Float[torch.Tensor, "head row column"]:
    """The largest weight of each block x block square; the last ones may be cut by the prompt's end."""
    if block == 1:
        return pattern
    return torch.nn.functional.max_pool2d(pattern.float()[None], block, ceil_mode=True)[0]


@dataclass(frozen=True, eq=False)
class Top:
    """Of each row its largest keys, the largest first, and the mass on all others."""

    keys: UInt16[np.ndarray, "*axes query k"]
    weights: UInt8[np.ndarray, "*axes query k"]
    rest: Float32[np.ndarray, "*axes query"]


def top_keys(pattern: Float[torch.Tensor, "*axes query key"], k: int) -> Top:
    """The ``k`` largest keys of every row; ``NO_KEY`` with weight 0 where a row has fewer."""
    k = min(k, pattern.shape[-1])
    weights, keys = pattern.float().topk(k, dim=-1)
    rows = torch.arange(pattern.shape[-2], device=pattern.device)
    keys = keys.masked_fill(keys > rows[:, None], NO_KEY)
    rest = (pattern.float().sum(-1) - weights.sum(-1)).clamp(min=0)
    return Top(keys.cpu().numpy().astype(np.uint16), quantise(weights).cpu().numpy(), rest.cpu().numpy())


def has_sinks(model: HeadModel) -> bool:
    """Whether a learned sink takes part of each row of a pattern, which sums to less than 1 (gpt-oss)."""
    return any(getattr(attention, "sinks", None) is not None for attention in model.parts.attentions)


def sink_shares(pattern: Float[torch.Tensor, "*axes query key"]) -> Float[torch.Tensor, "*axes query"]:
    """What no key gets of each row: the share of a learned sink."""
    return (1 - pattern.float().sum(-1)).clamp(min=0)


def weigh(
    pattern: Float[torch.Tensor, "*axes query key"], norms: Float[torch.Tensor, "*axes key"]
) -> Float[torch.Tensor, "*axes query key"]:
    """Each key weighed by the norm of its value vector; rows sum to 1 again."""
    weighed = pattern.float() * norms[..., None, :]
    return weighed / weighed.sum(-1, keepdim=True).clamp(min=torch.finfo(torch.float32).tiny)


def thumb_size(n_tokens: int, n_heads: int, most_bytes: int) -> tuple[int, int]:
    """(size, block) of thumbnails so that those of ``n_heads`` heads take at most ``most_bytes``."""
    most = max(1, int((np.sqrt(8 * (most_bytes // n_heads) + 1) - 1) / 2))
    block = -(-n_tokens // most)
    return -(-n_tokens // block), block


class _Reader:
    """Reduces one prompt's patterns, layer by layer."""

    def __init__(
        self, model: HeadModel, copies: Sequence[Sequence[int]], weighted: bool, most_thumb_bytes: int
    ) -> None:
        info = model.info
        self.length, self.weighted = len(copies), weighted
        self.where = Repetition.of(copies, model.device)
        self.targets = targets(self.where)
        self.excess = tuple(
            np.zeros((info.n_layers, info.n_heads, each.n_queries), np.float32) for each in self.targets
        )
        self.values = np.full((len(SCORES), info.n_layers, info.n_heads), np.nan, np.float32)
        self.size, self.block = 0, 1
        if most_thumb_bytes:
            self.size, self.block = thumb_size(self.length, info.n_layers * info.n_heads, most_thumb_bytes)
        self.cells = np.zeros((info.n_layers, info.n_heads, self.size * (self.size + 1) // 2), np.uint8)
        self.sinks: np.ndarray | None = None
        if self.size and not weighted and has_sinks(model):
            self.sinks = np.zeros((info.n_layers, info.n_heads, self.size), np.uint8)
        self.unread: dict[int, torch.Tensor] = {}

    def read(self, layer: int, pattern: torch.Tensor, norms: torch.Tensor | None) -> None:
        """``pattern`` [head, query, key] and ``norms`` [head, key], padding included."""
        pattern = pattern[:, : self.length, : self.length]
        self.unread[layer] = pattern if norms is None else weigh(pattern, norms[:, : self.length])
        if len(self.unread) * pattern.numel() >= _CELLS_AT_ONCE:
            self._reduce()

    def _reduce(self) -> None:
        """Score and draw the layers in hand: many at once, where each is a matter of microseconds."""
        layers, heads = list(self.unread), self.values.shape[2]
        if not layers:
            return
        pattern = torch.cat([self.unread[layer] for layer in layers])
        self.unread.clear()
        scores = score_pattern(pattern, self.where).cpu().numpy()
        self.values[:, layers] = scores.reshape(len(SCORES), len(layers), heads)
        for found, each in zip(self.excess, self.targets, strict=True):
            excess = each.excess(pattern.float()).cpu().numpy()
            found[layers] = excess.reshape(len(layers), heads, each.n_queries)
        if self.size:
            cells = pack(pool(pattern, self.block)).cpu().numpy()
            self.cells[layers] = cells.reshape(len(layers), heads, -1)
        if self.sinks is not None:
            taken = quantise(pool(sink_shares(pattern)[..., None], self.block)[..., 0]).cpu().numpy()
            self.sinks[layers] = taken.reshape(len(layers), heads, -1)

    def look(self, loss: torch.Tensor) -> Look:
        """What was read, with the losses of the pass."""
        self._reduce()
        sinks = self.values[[score.name for score in SCORES].index("sink")]
        return Look(
            values=self.values,
            excess=self.excess,
            loss=loss[: self.length].numpy(),
            sink=float(sinks.mean()) if self.length > 1 else 1.0,
            thumbs=Thumbs(self.size, self.block, self.cells, self.sinks) if self.size else None,
        )


def _entropies(pattern: Float[torch.Tensor, "head query key"]) -> Float[torch.Tensor, "head query"]:
    """Nats of each row, a block of rows at a time: of a long prompt half the keys are in no row's past."""
    rows = range(0, pattern.shape[1], _ENTROPY_BLOCK)
    blocks = (pattern[:, row : row + _ENTROPY_BLOCK, : row + _ENTROPY_BLOCK] for row in rows)
    return torch.cat([torch.special.entr(block).sum(-1) for block in blocks], 1)


def _mean(excess: Float32[np.ndarray, "layer head query"]) -> Float32[np.ndarray, "layer head"]:
    """Over queries; NaN without any."""
    if not excess.shape[-1]:
        return np.full(excess.shape[:-1], np.nan, np.float32)
    return np.asarray(excess.mean(axis=-1))


def _count(positions: torch.Tensor) -> float:
    """How many, NaN for none."""
    return float(len(positions)) or float("nan")
