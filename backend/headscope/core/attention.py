"""Reading and holding attention patterns while the architecture's own code runs. See docs/design/patterns.md.

1. Models of transformers look up their attention function by the name in their configuration. While a context
   of this module is open that name is ours: the function calls the architecture's own eager attention, shows
   the pattern that it gives, and forgets it.
2. Where a pattern is held, the function mixes the values by that pattern in place of its own.
3. TransformerLens' native model takes a function of the pattern as an argument; a hook gives it ours.

A pattern is [batch, head, query, key]; value norms are [batch, head, key], per *query* head.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from headscope.errors import Invalid

NAME = "headscope"
"""Our attention function's name in a transformers configuration."""

Visit = Callable[[int, torch.Tensor, torch.Tensor | None], None]
"""Called with layer, pattern and, where they were asked for, the norms of the values."""


@dataclass(frozen=True)
class Visitor:
    """Who looks: at which layers, and whether the norms of the values are wanted too."""

    visit: Visit
    layers: frozenset[int]
    values: bool


@dataclass(frozen=True)
class Watch:
    """What is going on in the open contexts of one model; ``layers`` knows its attention modules by id."""

    layers: Mapping[int, int]
    visitors: tuple[Visitor, ...] = ()
    held: Mapping[int, torch.Tensor] = field(default_factory=dict)

    def show(self, layer: int, pattern: torch.Tensor, norms: Callable[[], torch.Tensor]) -> None:
        """Show a layer's pattern to who looks at it."""
        for visitor in self.visitors:
            if layer in visitor.layers:
                visitor.visit(layer, pattern, norms() if visitor.values else None)


_watch: ContextVar[Watch | None] = ContextVar("headscope_attention_watch", default=None)
# A context variable: transformers calls our function with the attention module only, in the pass's thread.


@contextmanager
def watching(
    modules: Sequence[nn.Module],
    config: Any,
    visitors: Sequence[Visitor] = (),
    held: Mapping[int, torch.Tensor] | None = None,
) -> Iterator[None]:
    """Show and hold the patterns of passes within; contexts nest. ``modules``: each layer's attention.

    ``config`` is the transformers configuration that all modules share, None for the native model.
    """
    outer = _watch.get()
    if outer is None or id(modules[0]) not in outer.layers:
        outer = Watch({id(module): layer for layer, module in enumerate(modules)})
    watch = Watch(outer.layers, (*outer.visitors, *visitors), {**outer.held, **(held or {})})
    token = _watch.set(watch)
    try:
        with _native(modules) if config is None else _named(config):
            yield
    finally:
        _watch.reset(token)


def attention_function(module: nn.Module, *states: Any, **settings: Any) -> tuple[torch.Tensor, Any]:
    """The attention function of transformers' interface: (module, query, key, value, mask, ...)."""
    watch = _watch.get()
    layer = None if watch is None else watch.layers.get(id(module))
    value: torch.Tensor = states[2]
    if watch is not None and layer is not None and layer in watch.held:
        pattern = held_pattern(watch.held[layer], value, states[0].shape)
        watch.show(layer, pattern, lambda: value_norms(value, pattern.shape[1]))
        return (pattern @ _per_head(value, pattern.shape[1])).transpose(1, 2).contiguous(), pattern
    eager = sys.modules[type(module).__module__].__dict__["eager_attention_forward"]
    mixed, pattern = eager(module, *states, **settings)
    if watch is not None and layer is not None:
        watch.show(layer, pattern, lambda: value_norms(value, pattern.shape[1]))
    return mixed, pattern


def readable(modules: Sequence[nn.Module], config: Any) -> bool:
    """Whether all layers' attention looks its function up by name, with an eager one of its own kind."""
    if config is None:
        return all(getattr(module, "accepts_pattern_fn", False) for module in modules)
    there = (sys.modules[type(module).__module__].__dict__ for module in modules)
    return all("eager_attention_forward" in names and "ALL_ATTENTION_FUNCTIONS" in names for names in there)


def register() -> None:
    """Make our function known to transformers, with the mask of eager attention; again changes nothing."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    AttentionInterface.register(NAME, attention_function)
    AttentionMaskInterface.register(NAME, eager_mask)


def held_pattern(pattern: torch.Tensor, value: torch.Tensor, query: Sequence[int]) -> torch.Tensor:
    """A held pattern in the dtype and place of the values; Invalid where it is not the pass's."""
    batch, heads, length = query[0], query[1], query[2]
    shape = tuple(pattern.shape)
    if shape not in ((batch, heads, length, length), (1, heads, length, length)):
        raise Invalid(
            f"Held patterns of shape {shape} don't fit {batch} rows of {length} tokens and {heads} heads.",
            "Hold the patterns of the same prompt.",
            code="bad-patterns",
        )
    return pattern.to(dtype=value.dtype, device=value.device)


@contextmanager
def _named(config: Any) -> Iterator[None]:
    """Have a transformers model look our attention function up."""
    register()
    before = config._attn_implementation
    config._attn_implementation = NAME
    try:
        yield
    finally:
        config._attn_implementation = before


@contextmanager
def _native(modules: Sequence[nn.Module]) -> Iterator[None]:
    """Give each layer of the native model a function of its pattern; the innermost context's hook is the
    last.
    """
    with ExitStack() as hooks:
        for module in modules:
            hooks.callback(module.register_forward_pre_hook(_offer, with_kwargs=True).remove)
        yield


def _offer(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    stream = args[0] if args else kwargs["hidden_states"]

    def pattern_fn(pattern: torch.Tensor) -> torch.Tensor:
        watch = _watch.get()
        layer = None if watch is None else watch.layers.get(id(module))
        if watch is None or layer is None:
            return pattern

        def norms() -> torch.Tensor:
            value = module.v(stream).view(*stream.shape[:2], module.n_kv_heads, module.d_head)
            return value_norms(value.transpose(1, 2), module.n_heads)

        if layer in watch.held:
            pattern = held_pattern(watch.held[layer], pattern, pattern.shape)
        watch.show(layer, pattern, norms)
        return pattern

    return args, {**kwargs, "pattern_fn": pattern_fn}


def _per_head(value: torch.Tensor, n_heads: int) -> torch.Tensor:
    """Values [batch, group, key, d_head] for each query head of the group."""
    return value.repeat_interleave(n_heads // value.shape[1], dim=1)


def value_norms(value: torch.Tensor, n_heads: int) -> torch.Tensor:
    """Norms [batch, head, key] of values [batch, group, key, d_head]."""
    norms: torch.Tensor = value.float().norm(dim=-1)
    return norms.repeat_interleave(n_heads // value.shape[1], dim=1)
