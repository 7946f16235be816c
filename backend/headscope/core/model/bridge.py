"""The adapter over TransformerLens' TransformerBridge; only it and core/model/boot.py name it.

1. The weights load once, into the architecture's own module, frozen, with fused attention.
2. TransformerLens' architecture adapter says where each layer applies W_O and where the unembedding is. Gates
   are pre-hooks there (core/model/hooks.py), so that a gated pass costs what a plain one does.
3. A short pass proves that every layer's projection is reached with all heads' z: a hook that silently does
   nothing is the commonest fault in this field, and such a model is refused.
4. Patterns are read and held while the architecture's own eager attention runs (core/model/attention.py).
5. The bridge proper names weights for circuits. It is made when first asked for, around a second tree of
   modules that shares every weight with the first, and runs no pass.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import nn

from headscope.core.model.attention import (
    Edit,
    PatternAccess,
    Visit,
    Visitor,
    holding,
    watching,
)
from headscope.core.model.boot import DTYPES, make
from headscope.core.model.capabilities import Proof
from headscope.core.model.finite import check_finite
from headscope.core.model.folder import effective_attention, end_tokens, read_config
from headscope.core.model.hooks import capturing_z, gated, only_at
from headscope.core.model.info import ModelInfo, model_info
from headscope.core.model.packing import Packing
from headscope.core.model.parts import locate
from headscope.core.model.readout import keeping_stream, measure_tail, token_losses
from headscope.core.model.replacement import Replacement
from headscope.core.model.resuming import Blocks, kept_cache
from headscope.core.model.target_pass import TargetPass
from headscope.core.model.tokens import Tokenizer
from headscope.errors import Invalid, Refused

_CAPTURES = ("z", "pattern")


class BridgedModel:
    """A HeadModel over one module tree for speed and, when patterns are asked for, a bridge over its twin."""

    def __init__(
        self,
        module: nn.Module,
        boot: Callable[[nn.Module], Any],
        adapter: Any,
        info: ModelInfo,
        tokenizer: Tokenizer,
        attention: str,
        ends: frozenset[int] = frozenset(),
    ) -> None:
        self.info = info
        self.tokenizer = tokenizer
        self.attention = getattr(getattr(module, "config", None), "_attn_implementation", attention)
        self.ends = ends
        self.proof: Proof | None = None
        self.module = module.eval().requires_grad_(False)
        weights = next(module.parameters())
        self.device, self.dtype = weights.device, weights.dtype
        self._boot = boot
        self.parts = locate(module, adapter, info)
        self._projections, self._attentions = self.parts.projections, self.parts.attentions
        self._unembedding = self.parts.unembedding
        self._watch = PatternAccess()
        self._seen = 0  # positions before those of the pass that runs, by kept keys and values
        self._prove()

    def logits(self, tokens: Int[torch.Tensor, "batch pos"]) -> Float[torch.Tensor, "batch pos vocab"]:
        """Logits of the next token at every position. Raises Invalid beyond the context."""
        return self._forward(tokens)

    def logits_at(
        self, tokens: Int[torch.Tensor, "batch pos"], where: Int[torch.Tensor, "n 2"], kept: Any = None
    ) -> Float[torch.Tensor, "n vocab"]:
        """Logits at (row, position) pairs only: the unembedding sees nothing else."""
        with only_at(self._unembedding, where.to(self.device)):
            return self._forward(tokens, kept)[0]

    def packs(self) -> bool:
        """Whether rows of several lengths run packed."""
        return self._targets.packs

    def target_logits(
        self,
        packing: Packing,
        gates: Float[torch.Tensor, "set layer head"] | None,
        replacement: Replacement | None = None,
    ) -> Float[torch.Tensor, "target vocab"]:
        """Logits at the targets, each row under its owner's gates; padded where patterns are read."""
        plain = self._watch != PatternAccess()
        return self._targets(packing, gates, replacement, plain=plain)

    def kept(self, tokens: Int[torch.Tensor, "1 pos"]) -> Any:
        """A prompt's keys and values, for passes over what may follow it; None without any."""
        if self._empty_cache() is None:
            return None
        from transformers import DynamicCache

        cache = DynamicCache()  # without a configuration every layer keeps every position
        with only_at(self._unembedding, torch.tensor([[0, 0]], device=self.device)):
            self._forward(tokens, cache)
        return kept_cache(cache)

    def resumed(
        self, layer: int, stream: Float[torch.Tensor, "batch pos d_model"]
    ) -> AbstractContextManager[None]:
        """Let passes begin at a layer with this stream as its input; earlier layers do nothing."""
        self._check_captures((layer,), ())
        return self._blocks.resumed(layer, stream)

    def streams(self, layers: Sequence[int]) -> AbstractContextManager[dict[int, torch.Tensor]]:
        """Collect the stream that goes into each of these layers in the next pass."""
        self._check_captures(tuple(layers), ())
        return self._blocks.reading(layers)

    def losses(self, tokens: Int[torch.Tensor, "batch pos"]) -> Float[torch.Tensor, "batch pos"]:
        """Nats of each token as predicted at the position before, NaN for the first."""
        tokens = tokens.to(self.device)
        if self.tail.kind == "other":
            return token_losses(lambda logits: logits, self._forward(tokens), tokens)
        stream: list[torch.Tensor] = []
        with keeping_stream(self._unembedding, stream):
            self._forward(tokens)
        return token_losses(lambda rows: self.tail(self._unembedding(rows)), stream[0], tokens)

    @contextmanager
    def gated(
        self, gates: Float[torch.Tensor, "*batch layer head"], replacement: Replacement | None = None
    ) -> Iterator[None]:
        """Multiply each head's z by its gate before W_O, or interpolate it with a replacement."""
        with gated(self._projections, self.info.n_heads, gates, replacement, lambda: self._seen):
            yield

    @contextmanager
    def captured(self, layers: tuple[int, ...], names: tuple[str, ...]) -> Iterator[dict[str, torch.Tensor]]:
        """Collect ``"{layer}.z"`` and ``"{layer}.pattern"`` of the passes within."""
        self._check_captures(layers, names)
        found: dict[str, torch.Tensor] = {}
        with ExitStack() as hooks:
            if "z" in names:
                hooks.enter_context(capturing_z(self._projections, self.info.n_heads, layers, found))
            if "pattern" in names:
                hooks.enter_context(self._capturing_patterns(layers, found))
            yield found

    @contextmanager
    def reading(
        self, visit: Visit, layers: Sequence[int] | None = None, values: bool = False
    ) -> Iterator[None]:
        """Call ``visit(layer, pattern, norms)`` as each layer's pattern is made; nothing is kept."""
        there = tuple(range(self.info.n_layers)) if layers is None else tuple(layers)
        self._check_captures(there, ())
        with self._watching(Visitor(visit, frozenset(there), values)):
            yield

    @contextmanager
    def frozen(self, patterns: Mapping[int, torch.Tensor]) -> Iterator[None]:
        """Mix values by these patterns, of some layers, in place of the model's own."""
        self._check_captures(tuple(patterns), ())
        with self._watching(holding(patterns)):
            yield

    @contextmanager
    def sharing(self, rows: Sequence[int]) -> Iterator[None]:
        """Let each row of a batch mix by the patterns of another: row b by those of ``rows[b]``."""
        with self._watching(lambda _, pattern: pattern[list(rows)]):
            yield

    def continued(
        self, ids: Sequence[int], n: int, pick: Callable[[Float[torch.Tensor, " vocab"]], int]
    ) -> Iterator[int]:
        """Up to ``n`` further tokens, each picked from the logits after all before it."""
        tokens = list(ids)
        cache, seen = self._empty_cache(), 0
        for _ in range(min(n, self.info.n_ctx - len(tokens)) if len(tokens) <= self.info.n_ctx else 1):
            fresh = tokens if cache is None else tokens[seen:]
            last = torch.tensor([[0, len(fresh) - 1]], device=self.device)
            with torch.no_grad(), only_at(self._unembedding, last):
                logits = self._forward(torch.tensor([fresh], device=self.device), cache)[0, 0]
            seen = len(tokens)
            tokens.append(pick(logits))
            yield tokens[-1]

    @cached_property
    def _targets(self) -> TargetPass:
        config = getattr(self.module, "config", None)
        return TargetPass(
            lambda tokens, positions: self._forward(tokens, positions=positions),
            self.gated, self.parts, self.info, config, self.attention,
        )  # fmt: skip

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks(self.parts.blocks, self.logits)

    @cached_property
    def bridge(self) -> Any:
        """The TransformerBridge: same weights, eager attention, its own names for weights and hooks."""
        shared = [*self.module.parameters(), *self.module.buffers(), *self._projections, self._unembedding]
        twin = copy.deepcopy(self.module, {id(part): part for part in shared})
        for part in twin.modules():
            part.__dict__.pop("forward", None)  # a context may be open while the copy is made
            if not any(part is other for other in (*self._projections, self._unembedding)):
                part._forward_pre_hooks.clear()
        return self._boot(twin)

    def _forward(
        self, tokens: torch.Tensor, cache: Any = None, positions: torch.Tensor | None = None
    ) -> torch.Tensor:
        n = tokens.shape[1] if positions is None else int(positions.max()) + 1
        self._seen = 0 if cache is None else cache.get_seq_length()
        n += self._seen
        if n > self.info.n_ctx:
            raise Invalid(
                f"{n} tokens don't fit the context of {self.info.n_ctx}.",
                "Shorten the text.",
                code="too-long",
            )
        kept = {"use_cache": False} if cache is None else {"use_cache": True, self._cache_name: cache}
        placed = {} if positions is None else {"position_ids": positions.to(self.device)}
        out = self.module(input_ids=tokens.to(self.device), **kept, **placed)
        logits: torch.Tensor = out if isinstance(out, torch.Tensor) else out.logits
        return logits

    @cached_property
    def _cache_name(self) -> str:
        """By what name the architecture takes keys and values of earlier tokens; "" where it keeps none."""
        names = inspect.signature(self.module.forward).parameters
        # transformers renamed past_key_values to cache in 5.24
        return next((name for name in ("cache", "past_key_values") if name in names), "")

    def _empty_cache(self) -> Any:
        """For an architecture that keeps keys and values, and a pass whose patterns nobody reads."""
        if not self._cache_name or self._watch != PatternAccess():
            return None
        from transformers import DynamicCache

        return DynamicCache(config=self.module.config)

    @contextmanager
    def _capturing_patterns(self, layers: tuple[int, ...], into: dict[str, torch.Tensor]) -> Iterator[None]:
        def keep(layer: int, pattern: torch.Tensor, _: torch.Tensor | None = None) -> None:
            into[f"{layer}.pattern"] = pattern

        with self._watching(Visitor(keep, frozenset(layers), False)):
            yield

    @contextmanager
    def _watching(self, more: Visitor | Edit) -> Iterator[None]:
        before = self._watch
        self._watch = (
            replace(before, visitors=(*before.visitors, more))
            if isinstance(more, Visitor)
            else replace(before, edits=(*before.edits, more))
        )
        try:
            with watching(self._attentions, getattr(self.module, "config", None), self._watch):
                yield
        finally:
            self._watch = before

    def _check_captures(self, layers: tuple[int, ...], names: tuple[str, ...]) -> None:
        for layer in layers:
            if not 0 <= layer < self.info.n_layers:
                raise Invalid(
                    f"Layer {layer} of {self.info.n_layers}.",
                    f"Layers run 0-{self.info.n_layers - 1}.",
                    code="no-layer",
                )
        for name in names:
            if name not in _CAPTURES:
                raise Invalid(
                    f"{name!r} can't be captured.", f"Choose among {', '.join(_CAPTURES)}.", code="no-capture"
                )

    def _prove(self) -> None:
        """Run two rows that differ in their last token: every layer's z arrives at its projection, of all
        heads' width, and what stands before is alike. Finds the tail.
        """
        found: dict[str, torch.Tensor] = {}
        layers = range(self.info.n_layers)
        raw: list[torch.Tensor] = []
        hook = self._unembedding.register_forward_hook(lambda _, __, out: raw.append(out))
        with torch.no_grad(), capturing_z(self._projections, self.info.n_heads, layers, found):
            logits = self._forward(torch.tensor([[0, 0, 0], [0, 0, 1]], device=self.device))
        hook.remove()
        before = logits[:, :-1].float()
        if (before[0] - before[1]).abs().max() > 0.1 * before.abs().max():
            raise Invalid(
                f"{self.info.architecture} isn't causal: a token changes what is predicted before it.",
                "Choose a decoder-only model, which predicts the next token.",
                code="unsupported-architecture",
            )
        cap = getattr(getattr(self.module, "config", None), "final_logit_softcapping", None)
        self.tail = measure_tail(raw[0], logits, cap)
        for layer in layers:
            z = found.get(f"{layer}.z")
            if z is None or z.shape[-2:] != (self.info.n_heads, self.info.d_head):
                raise Invalid(
                    f"Layer {layer} of {self.info.architecture} doesn't pass all heads to one projection.",
                    "Choose a model with ordinary attention in every layer.",
                    code="unsupported-architecture",
                )


def load(folder: Path, *, name: str, dtype: str, device: str, attention: str) -> BridgedModel:
    """See ``core.model.load_model``."""
    if dtype not in DTYPES:
        raise Invalid(f"There is no dtype {dtype!r}.", f"Choose among {', '.join(DTYPES)}.", code="bad-dtype")
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    info = model_info(folder, name=name, dtype=dtype)
    attention = effective_attention(read_config(folder), attention)
    tokenizer = Tokenizer.from_folder(folder, info.d_vocab)
    try:
        module, adapter, boot = make(folder, info, attention)
        check_finite(module, folder)
        module = module.to(device)
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise Refused(
            f"{name} doesn't fit into the memory of {device}.",
            "Choose a smaller model or dtype.",
            code="out-of-memory",
        ) from error
    return BridgedModel(module, boot, adapter, info, tokenizer, attention, end_tokens(folder))
