"""An attention-only transformer of explicit matrices, as a ``HeadModel``. No norms, no biases, learned
positions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from headscope.core.model.info import ModelInfo
from headscope.core.model.packing import Packing
from headscope.core.model.replacement import Replacement


@dataclass(frozen=True)
class MicroExample:
    """An example as tasks give it."""

    tokens: tuple[int, ...]
    targets: tuple[int, ...]
    counterfactual: tuple[int, ...] | None = None
    paired: tuple[int, ...] | None = None


@dataclass
class MicroModel:
    """W_Q, W_K, W_V [layer, head, d_model, d_head], W_O [layer, head, d_head, d_model], row vectors
    throughout.
    """

    W_E: Tensor
    W_pos: Tensor
    W_Q: Tensor
    W_K: Tensor
    W_V: Tensor
    W_O: Tensor
    W_U: Tensor
    tokenizer: Any = None
    proof: Any = None
    attention: str = "sdpa"
    seen: list[tuple[int, int]] = field(default_factory=list)
    gates: Tensor | None = None
    replacement: Replacement | None = None
    kept_z: dict[str, Tensor] | None = None
    held: dict[int, Tensor] = field(default_factory=dict)
    visit: Callable[[int, Tensor, Tensor | None], None] | None = None
    values: bool = False
    rows: list[int] | None = None
    ends: frozenset[int] = frozenset()
    parts: Any = None
    tail: Any = None
    given: tuple[int, Tensor] | None = None
    read: dict[int, Tensor] | None = None

    @property
    def device(self) -> torch.device:
        return self.W_E.device

    @property
    def dtype(self) -> torch.dtype:
        return self.W_E.dtype

    @property
    def info(self) -> ModelInfo:
        n_layers, n_heads, d_model, d_head = self.W_Q.shape
        return ModelInfo(
            name="micro",
            revision="0" * 64,
            architecture="Micro",
            n_layers=n_layers,
            n_heads=n_heads,
            n_kv_heads=n_heads,
            d_model=d_model,
            d_head=d_head,
            d_vocab=len(self.W_E),
            n_ctx=len(self.W_pos),
            n_params=sum(
                w.numel() for w in (self.W_E, self.W_pos, self.W_Q, self.W_K, self.W_V, self.W_O, self.W_U)
            ),
            n_params_non_embedding=sum(w.numel() for w in (self.W_Q, self.W_K, self.W_V, self.W_O)),
            dtype="float64" if self.dtype == torch.float64 else "float32",
            weight_processing="none",
            tokenizer_hash="0" * 64,
            bos=self.tokenizer is not None and self.tokenizer.adds_bos,
        )

    def logits(self, tokens: Tensor) -> Tensor:
        self.seen.append((tokens.shape[0], tokens.shape[1]))
        n_layers, _, _, d_head = self.W_Q.shape
        length = tokens.shape[1]
        future = torch.ones(length, length).triu(1).bool()
        stream = self.W_E[tokens] + self.W_pos[:length]
        for layer in range(n_layers):
            if self.given is not None and layer <= self.given[0]:
                stream = self.given[1]
                if layer < self.given[0]:
                    continue
            if self.read is not None:
                self.read[layer] = stream
            q, k, v = (stream[:, None] @ w[layer] for w in (self.W_Q, self.W_K, self.W_V))
            scores = q @ k.transpose(2, 3) / math.sqrt(d_head)
            pattern = self.held.get(layer, scores.masked_fill(future, -torch.inf).softmax(dim=-1))
            pattern = pattern if self.rows is None else pattern[self.rows]
            if self.visit is not None:
                self.visit(layer, pattern, v.norm(dim=-1) if self.values else None)
            z = pattern @ v
            if self.kept_z is not None:
                self.kept_z[f"{layer}.z"] = z.transpose(1, 2)
            if self.gates is not None:
                gate = self.gates[..., layer, :, None, None]
                z = z * gate + self._inside(layer, *tokens.shape) * (1 - gate)
            stream = stream + (z @ self.W_O[layer]).sum(dim=1)
        return stream @ self.W_U

    def _inside(self, layer: int, rows: int, length: int) -> Tensor | int:
        """r [row or 1, head, pos, d_head]."""
        if self.replacement is None:
            return 0
        entries = self.replacement.entries(0, rows, length)
        return self.replacement.table[:, layer].to(self.dtype)[entries].transpose(1, 2)

    def logits_at(self, tokens: Tensor, where: Tensor, kept: Any = None) -> Tensor:
        return self.logits(tokens)[where[:, 0], where[:, 1]]

    def packs(self) -> bool:
        return False

    def target_logits(
        self, packing: Packing, gates: Tensor | None, replacement: Replacement | None = None
    ) -> Tensor:
        if gates is not None:
            with self.gated(gates[packing.owners[packing.rows[:, 0]]], replacement):
                return self.target_logits(packing, None)
        logits = self.logits(packing.tokens[packing.rows]).flatten(0, 1)
        return logits[packing.places[packing.targets]]

    def kept(self, tokens: Tensor) -> Any:
        return None

    @contextmanager
    def streams(self, layers: Sequence[int]) -> Iterator[dict[int, Tensor]]:
        self.read = {}
        try:
            yield self.read
        finally:
            self.read = None

    @contextmanager
    def resumed(self, layer: int, stream: Tensor) -> Iterator[None]:
        self.given = (layer, stream)
        try:
            yield
        finally:
            self.given = None

    @contextmanager
    def gated(self, gates: Tensor, replacement: Replacement | None = None) -> Iterator[None]:
        self.gates, self.replacement = gates, replacement
        try:
            yield
        finally:
            self.gates = self.replacement = None

    @contextmanager
    def captured(self, layers: tuple[int, ...], names: tuple[str, ...]) -> Iterator[dict[str, Tensor]]:
        if names != ("z",):
            raise NotImplementedError
        self.kept_z = {}
        try:
            yield self.kept_z
        finally:
            self.kept_z = None

    @contextmanager
    def reading(
        self,
        visit: Callable[[int, Tensor, Tensor | None], None],
        layers: Sequence[int] | None = None,
        values: bool = False,
    ) -> Iterator[None]:
        self.visit, self.values = visit, values
        try:
            yield
        finally:
            self.visit = None

    @contextmanager
    def frozen(self, patterns: Mapping[int, Tensor]) -> Iterator[None]:
        self.held = dict(patterns)
        try:
            yield
        finally:
            self.held = {}

    @contextmanager
    def sharing(self, rows: Sequence[int]) -> Iterator[None]:
        self.rows = list(rows)
        try:
            yield
        finally:
            self.rows = None

    def losses(self, tokens: Tensor) -> Tensor:
        chosen = self.logits(tokens)[:, :-1].log_softmax(dim=-1).gather(2, tokens[:, 1:, None])[..., 0]
        first = torch.full((len(tokens), 1), torch.nan, dtype=chosen.dtype)
        return torch.cat([first, -chosen], dim=1).float()

    def continued(self, ids: Sequence[int], n: int, pick: Callable[[Tensor], int]) -> Iterator[int]:
        written = list(ids)
        for _ in range(min(n, len(self.W_pos) - len(written))):
            written.append(pick(self.logits(torch.tensor([written]))[0, -1]))
            yield written[-1]


def random_model(
    *,
    layers: int = 2,
    heads: int = 3,
    vocab: int = 11,
    context: int = 16,
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
) -> MicroModel:
    """Weights large enough that every head moves the logits."""
    source = torch.Generator().manual_seed(seed)
    d_model, d_head = 12, 4

    def draw(*shape: int) -> Tensor:
        return (0.5 * torch.randn(*shape, generator=source, dtype=torch.float64)).to(dtype)

    W_Q, W_K, W_V = (draw(layers, heads, d_model, d_head) for _ in range(3))
    return MicroModel(
        draw(vocab, d_model),
        draw(context, d_model),
        W_Q,
        W_K,
        W_V,
        draw(layers, heads, d_head, d_model),
        draw(d_model, vocab),
    )


def random_examples(
    n: int,
    *,
    vocab: int = 11,
    lengths: Sequence[int] = (4, 5, 7),
    n_targets: Sequence[int] = (1, 2),
    seed: int = 0,
) -> list[MicroExample]:
    """Random tokens; the last few are targets."""
    source = torch.Generator().manual_seed(seed)
    examples = []
    for number in range(n):
        length = lengths[number % len(lengths)]
        tokens = tuple(torch.randint(vocab, (length,), generator=source).tolist())
        scored = n_targets[number % len(n_targets)]
        examples.append(MicroExample(tokens, tuple(range(length - scored, length))))
    return examples
