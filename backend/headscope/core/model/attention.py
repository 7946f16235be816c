"""Reading and changing attention patterns while the architecture's own code runs. See
docs/design/patterns.md.

1. Models of transformers look up their attention function by the name in their configuration. While a context
   of this module is open that name is ours: the function calls the architecture's own eager attention, shows
   the pattern that it gives, and forgets it. Layers at which nobody looks go on fused where they did.
2. Where the pattern is to be another one, the function mixes the values anew, by that one.
3. Attention that looks nothing up (BLOOM, Falcon, GPT-Neo, MPT) runs eagerly, and
   core/model/inline_attention.py meets the pattern between its softmax and its product with the values.
4. TransformerLens' native model takes a function of the pattern as an argument; a hook gives it ours.

A pattern is [batch, head, query, key]; value norms are [batch, head, key], per *query* head.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from headscope.core.model.inline_attention import meeting
from headscope.errors import Invalid

NAME = "headscope"
"""Our attention function's name in a transformers configuration."""

Visit = Callable[[int, torch.Tensor, torch.Tensor | None], None]
"""Called with layer, pattern and, where they were asked for, the norms of the values."""


Edit = Callable[[int, torch.Tensor], torch.Tensor]
"""Called with layer and pattern; what it returns is mixed by. The pattern itself leaves all as it is."""


@dataclass(frozen=True)
class Visitor:
    """Who looks: at which layers, and whether the norms of the values are wanted too."""

    visit: Visit
    layers: frozenset[int]
    values: bool


@dataclass(frozen=True)
class PatternAccess:
    """What is going on in the open contexts of one model."""

    visitors: tuple[Visitor, ...] = ()
    edits: tuple[Edit, ...] = ()

    def wants(self, layer: int) -> bool:
        """Whether a layer's pattern has to be made."""
        return bool(self.edits) or any(layer in visitor.layers for visitor in self.visitors)

    def meet(self, layer: int, pattern: torch.Tensor, norms: Callable[[], torch.Tensor]) -> torch.Tensor:
        """Change a layer's pattern, outer contexts first, and show what came of it."""
        for edit in self.edits:
            pattern = edit(layer, pattern)
        for visitor in self.visitors:
            if layer in visitor.layers:
                visitor.visit(layer, pattern, norms() if visitor.values else None)
        return pattern


@dataclass(frozen=True)
class _Open:
    """The innermost open context: layers by the id of their attention module, and who watches.

    ``usual`` is the name of the attention function that runs without contexts.
    """

    layers: Mapping[int, int]
    watch: PatternAccess
    usual: str


_open: ContextVar[_Open | None] = ContextVar("headscope_attention", default=None)
# A context variable: transformers calls our function with its module only, in the thread of the pass.


@contextmanager
def watching(modules: Sequence[nn.Module], config: Any, watch: PatternAccess) -> Iterator[None]:
    """Show and change the patterns of passes within. ``modules``: each layer's attention.

    ``config`` is the transformers configuration that all modules share, None for the native model.
    """
    outer, usual = _open.get(), getattr(config, "_attn_implementation", "eager")
    if outer is not None and usual == NAME:
        usual = outer.usual
    token = _open.set(_Open({id(module): layer for layer, module in enumerate(modules)}, watch, usual))
    try:
        with _shown(modules, config):
            yield
    finally:
        _open.reset(token)


def attention_function(module: nn.Module, *states: Any, **settings: Any) -> tuple[torch.Tensor, Any]:
    """The attention function of transformers' interface: (module, query, key, value, mask, ...)."""
    now = _open.get()
    if now is not None and now.usual == "sdpa" and not now.watch.wants(now.layers.get(id(module), -1)):
        from transformers import AttentionInterface

        fused: tuple[torch.Tensor, Any] = AttentionInterface()["sdpa"](module, *states, **settings)
        return fused
    eager = sys.modules[type(module).__module__].__dict__["eager_attention_forward"]
    mixed, pattern = eager(module, *states, **settings)
    value: torch.Tensor = states[2]
    heads = pattern.shape[1]
    changed = _meet(module, pattern, lambda: value_norms(value, heads))
    if changed is not pattern:
        per_head = value.repeat_interleave(heads // value.shape[1], dim=1)
        mixed = (changed.to(value) @ per_head).transpose(1, 2).contiguous()
    return mixed, changed


def by_name(modules: Sequence[nn.Module]) -> bool:
    """Whether all layers' attention looks its function up by name, with an eager one of its own kind."""
    there = (sys.modules[type(module).__module__].__dict__ for module in modules)
    return all("eager_attention_forward" in names and "ALL_ATTENTION_FUNCTIONS" in names for names in there)


def register() -> None:
    """Make our function known to transformers, with the mask of eager attention; again changes nothing."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    AttentionInterface.register(NAME, attention_function)
    AttentionMaskInterface.register(NAME, eager_mask)


def holding(patterns: Mapping[int, torch.Tensor]) -> Edit:
    """The edit that holds some layers at given patterns; Invalid where one is not of the pass's shape."""

    def hold(layer: int, pattern: torch.Tensor) -> torch.Tensor:
        if layer not in patterns:
            return pattern
        batch, heads, length = pattern.shape[:3]
        shape = tuple(patterns[layer].shape)
        if shape not in ((batch, heads, length, length), (1, heads, length, length)):
            raise Invalid(
                f"Held patterns of shape {shape} don't fit {batch} rows, {heads} heads and {length} tokens.",
                "Hold the patterns of the same prompt.",
                code="bad-patterns",
            )
        return patterns[layer].to(pattern)

    return hold


@contextmanager
def _shown(modules: Sequence[nn.Module], config: Any) -> Iterator[None]:
    """Have each layer show its pattern, in the way that its kind of attention can."""
    if config is None:
        with _native(modules):
            yield
    elif by_name(modules):
        register()
        with named(config, NAME):
            yield
    else:
        with named(config, "eager"), _inline(modules):
            yield


@contextmanager
def _inline(modules: Sequence[nn.Module]) -> Iterator[None]:
    """Once for all contexts: what is open is looked up when a pattern is met."""
    with ExitStack() as layers:
        for module in modules:
            if "forward" not in vars(module):
                layers.enter_context(meeting(module, _met_inline))
        yield


def _met_inline(module: nn.Module, pattern: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    return _meet(module, pattern, lambda: value_norms(value, pattern.shape[1]))


@contextmanager
def named(config: Any, name: str) -> Iterator[None]:
    """Have a transformers model look its attention function up by this name."""
    before = config._attn_implementation
    config._attn_implementation = name
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

    def norms() -> torch.Tensor:
        value = module.v(stream).view(*stream.shape[:2], module.n_kv_heads, module.d_head)
        return value_norms(value.transpose(1, 2), module.n_heads)

    return args, {**kwargs, "pattern_fn": lambda pattern: _meet(module, pattern, norms)}


def _meet(module: nn.Module, pattern: torch.Tensor, norms: Callable[[], torch.Tensor]) -> torch.Tensor:
    now = _open.get()
    layer = None if now is None else now.layers.get(id(module))
    return pattern if now is None or layer is None else now.watch.meet(layer, pattern, norms)


def value_norms(value: torch.Tensor, n_heads: int) -> torch.Tensor:
    """Norms [batch, head, key] of values [batch, group, key, d_head]."""
    norms: torch.Tensor = value.float().norm(dim=-1)
    return norms.repeat_interleave(n_heads // value.shape[1], dim=1)
