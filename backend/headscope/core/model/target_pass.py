"""Logits at target positions by the least work that is the model's own pass: packed rows, a narrow last
layer.

1. Packed rows (``core.model.packing``) run as one row of nodes. Models of transformers look up their
   attention function by the name in their configuration; ours spreads queries, keys and values of nodes to
   rows, calls the attention that would have run, and takes each node's outcome.
2. In the last layer only keys and values are needed everywhere. Its block is given the stream at the targets,
   its first norm the whole stream again, and its W_O what attention found at the targets. So W_O, the MLP
   and the unembedding see target positions alone.
3. Neither is taken on trust: a pass over three short rows is compared with the plain one, once, before a form
   is used. An architecture that takes neither runs padded, as others do.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import nn

from headscope.core.model.attention import named
from headscope.core.model.hooks import changing_input, changing_output
from headscope.core.model.info import ModelInfo
from headscope.core.model.packing import Packing, pack
from headscope.core.model.parts import Parts
from headscope.core.model.replacement import Replacement
from headscope.errors import Invalid

NAME = "headscope-packed"
"""Our attention function's name in a transformers configuration."""

_WINDOWS = ("sliding_window", "attention_chunk_size")
_CLOSE, _CLOSE_HALF = 1e-3, 0.05
"""How far logits may be from the plain pass's, of their norm; a wrong mask or position errs by far more."""

_open: ContextVar[tuple[Packing, str]] = ContextVar("headscope_packing")
# A context variable: transformers calls our function with its module only, in the thread of the pass.

Gating = Callable[[torch.Tensor, Replacement | None], AbstractContextManager[None]]
Forward = Callable[[torch.Tensor, torch.Tensor | None], torch.Tensor]


@dataclass(frozen=True)
class _Form:
    packed: bool
    narrow: bool


_PLAIN = _Form(packed=False, narrow=False)


class TargetPass:
    """How one model gives logits at targets.

    ``forward`` runs it on tokens at positions (as they follow, where None), ``gated`` puts gates on it,
    ``config`` is its configuration, None where it isn't of transformers, ``attention`` what runs.
    """

    def __init__(
        self, forward: Forward, gated: Gating, parts: Parts, info: ModelInfo, config: Any, attention: str
    ) -> None:
        self._forward, self._gated, self._parts, self._info = forward, gated, parts, info
        self._config, self._usual = config, attention

    def __call__(
        self,
        packing: Packing,
        gates: Float[torch.Tensor, "set layer head"] | None,
        replacement: Replacement | None = None,
        *,
        plain: bool = False,
    ) -> Float[torch.Tensor, "target vocab"]:
        """Logits at the packing's targets, each row under the gates of its owner; ``plain``: padded rows."""
        if plain:
            return self._pass(packing, gates, _PLAIN, replacement)
        seen_whole = packing.rows.shape[1] <= self._window
        return self._pass(packing, gates, _Form(self.packs and seen_whole, self._narrows), replacement)

    @cached_property
    def packs(self) -> bool:
        """Whether rows may run packed."""
        return self._config is not None and self._by_name() and self._proven(_Form(packed=True, narrow=False))

    @cached_property
    def _narrows(self) -> bool:
        return self._proven(_Form(packed=False, narrow=True))

    @cached_property
    def _window(self) -> float:
        """The longest row whose every position sees all before it."""
        found = (getattr(self._config, name, None) for name in _WINDOWS)
        return min((float(width) for width in found if isinstance(width, int)), default=float("inf"))

    def _by_name(self) -> bool:
        """Whether all layers look their attention function up, with an eager one beside where that runs."""
        wanted = {"ALL_ATTENTION_FUNCTIONS"} | ({"eager_attention_forward"} - {self._usual})
        return all(wanted <= set(vars(sys.modules[type(a).__module__])) for a in self._parts.attentions)

    @torch.no_grad()
    def _proven(self, form: _Form) -> bool:
        """Whether short rows of two owners come out in this form as they do in the plain one."""
        rows = [(0, (1, 2, 3, 4)), (0, (1, 2, 5)), (1, (1, 2, 3))]
        weights = next(self._parts.unembedding.parameters())
        packing = pack(rows, [(0, 1), (0, 3), (1, 2), (2, 1), (2, 2)]).to(weights.device)
        shape = (2, self._info.n_layers, self._info.n_heads)
        gates = torch.linspace(0.2, 1.0, math.prod(shape), device=weights.device).view(shape)
        expected = self._pass(packing, gates, _PLAIN).double()
        try:
            found = self._pass(packing, gates, form).double()
        except (RuntimeError, TypeError, ValueError, KeyError, IndexError, AttributeError, Invalid):
            return False  # Invalid: gates of rows meet a stream of another shape (norms that come after)
        spread = (expected - expected.mean(dim=1, keepdim=True)).norm()
        near = _CLOSE_HALF if weights.dtype in (torch.bfloat16, torch.float16) else _CLOSE
        return found.shape == expected.shape and bool((found - expected).norm() <= near * spread)

    def _pass(
        self,
        packing: Packing,
        gates: torch.Tensor | None,
        form: _Form,
        replacement: Replacement | None = None,
    ) -> torch.Tensor:
        if form.packed:
            replacement = None if replacement is None else replacement.packed(packing)
            tokens, positions = packing.tokens[None], packing.positions[None]
            at, owners = packing.targets, packing.owners[None]
        else:
            tokens, positions = packing.tokens[packing.rows], None
            at, owners = packing.places[packing.targets], packing.owners[packing.rows[:, 0]]
        with ExitStack() as contexts:
            if gates is not None:
                each = gates[0] if len(gates) == 1 else gates[owners]
                contexts.enter_context(self._gated(each, replacement))
            if form.packed:
                contexts.enter_context(_packed(self._config, packing, self._usual))
            if form.narrow:
                contexts.enter_context(self._narrowed(at))
            contexts.enter_context(_picked(self._parts.unembedding, at))
            return self._forward(tokens, positions)[0]

    @contextmanager
    def _narrowed(self, at: Int[torch.Tensor, " target"]) -> Iterator[None]:
        """Let the last layer see the stream at these positions only, its keys and values all of it."""
        block, norm, once = self._parts.blocks[-1], self._parts.entry_norms[-1], at.unique()
        whole: list[torch.Tensor] = []

        def narrow(stream: torch.Tensor) -> torch.Tensor:
            whole.append(stream)
            return _at(stream, once)

        def widen(rows: torch.Tensor) -> torch.Tensor:
            stream = whole.pop()
            return torch.zeros_like(stream.flatten(0, 1)).index_copy(0, once, rows[0]).view(stream.shape)

        with ExitStack() as contexts:
            contexts.enter_context(changing_input(block, narrow))
            if norm is not None:
                contexts.enter_context(changing_input(norm, lambda _: whole[-1]))
            contexts.enter_context(_picked(self._parts.projections[-1], once))
            contexts.enter_context(changing_output(block, widen))
            yield


@contextmanager
def _packed(config: Any, packing: Packing, usual: str) -> Iterator[None]:
    """Have a transformers model look our attention function up, and it find the packing."""
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, _attention)
    token = _open.set((packing, usual))
    try:
        with named(config, NAME):
            yield
    finally:
        _open.reset(token)


def _attention(
    module: nn.Module, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, _: Any, **settings: Any
) -> tuple[torch.Tensor, None]:
    """The attention function of transformers' interface: [1, head, node, d_head] in, [1, node, head, d_head]
    out.
    """
    packing, usual = _open.get()
    of_rows = [_spread(states, packing) for states in (query, key, value)]
    if usual == "sdpa":
        from transformers import AttentionInterface

        mixed, _ = AttentionInterface()["sdpa"](module, *of_rows, None, **settings)
    else:
        eager = sys.modules[type(module).__module__].__dict__["eager_attention_forward"]
        mixed, _ = eager(module, *of_rows, _causal(query, packing.rows.shape[1]), **settings)
    return _at(mixed.flatten(2), packing.places).unflatten(2, mixed.shape[2:]), None


def _spread(states: torch.Tensor, packing: Packing) -> torch.Tensor:
    """[1, head, node, d_head] to [row, head, pos, d_head]."""
    nodes = states[0].transpose(0, 1)
    heads = nodes.shape[1:]
    if packing.even:
        rows = nodes.reshape(*packing.rows.shape, *heads)
    else:
        rows = nn.functional.embedding(packing.rows, nodes.flatten(1)).unflatten(2, heads)
    return rows.transpose(1, 2)


def _at(states: torch.Tensor, flat: Int[torch.Tensor, " n"]) -> torch.Tensor:
    """Rows [1, n, width] of states [batch, pos, width] by their index in batch x pos.

    A look-up: unlike that of indexing its gradient is summed in the same order each time, on a GPU too.
    """
    return nn.functional.embedding(flat, states.flatten(0, 1))[None]


def _causal(like: torch.Tensor, length: int) -> torch.Tensor:
    """What eager attention adds to scores [.., query, key]."""
    future = torch.ones(length, length, dtype=torch.bool, device=like.device).triu(1)
    return torch.zeros(1, 1, length, length, dtype=like.dtype, device=like.device).masked_fill(
        future, torch.finfo(like.dtype).min
    )


def _picked(module: nn.Module, at: Int[torch.Tensor, " n"]) -> AbstractContextManager[None]:
    """Let a module see these positions only."""
    return changing_input(module, lambda states: _at(states, at))
