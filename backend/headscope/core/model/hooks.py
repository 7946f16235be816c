"""Hooks as context managers: interventions on heads, and reading what goes into a module or comes out of it.

Gates and z are forward pre-hooks on the modules that apply W_O, one per layer: their input is the heads'
mixed values z, side by side [batch, pos, head * d_head]. A hook exists only while its context is open, so a
model without gates runs as if there were none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import nn

from headscope.core.model.replacement import Replacement
from headscope.errors import Invalid


@contextmanager
def gated(
    projections: Sequence[nn.Module],
    n_heads: int,
    gates: Float[torch.Tensor, "*batch layer head"],
    replacement: Replacement | None = None,
    seen: Callable[[], int] = lambda: 0,
) -> Iterator[None]:
    """Multiply z by gates [layer, head], each row's own [batch, layer, head], or each position's own [batch,
    pos, layer, head]; with a ``replacement`` r, interpolate: g z + (1 - g) r.

    ``seen`` tells how many positions came before those of a pass (kept keys and values). Raises Invalid where
    a shape is not the model's. Gates take the dtype of z, and may need gradients.
    """
    if gates.ndim not in (2, 3, 4) or tuple(gates.shape[-2:]) != (len(projections), n_heads):
        raise Invalid(
            f"Gates of shape {tuple(gates.shape)} don't fit {len(projections)} layers x {n_heads} heads.",
            "Give [layer, head], [batch, layer, head] or [batch, pos, layer, head].",
            code="bad-gates",
        )
    if replacement is not None:
        replacement.check(len(projections), n_heads)
    with ExitStack() as hooks:
        for layer, (projection, gate) in enumerate(zip(projections, gates.unbind(-2), strict=True)):
            inside = None if replacement is None else _Inside(replacement, layer, seen)
            hooks.callback(projection.register_forward_pre_hook(_Gate(gate, inside)).remove)
        yield


@contextmanager
def capturing_z(
    projections: Sequence[nn.Module], n_heads: int, layers: Sequence[int], into: dict[str, torch.Tensor]
) -> Iterator[None]:
    """Put ``"{layer}.z"`` [batch, pos, head, d_head] into a dict: what the heads mixed, before any gate."""
    with ExitStack() as hooks:
        for layer in layers:

            def keep(_: nn.Module, args: tuple[Any, ...], layer: int = layer) -> None:
                z: torch.Tensor = args[0]
                into[f"{layer}.z"] = z.view(*z.shape[:-1], n_heads, z.shape[-1] // n_heads)

            hooks.callback(projections[layer].register_forward_pre_hook(keep, prepend=True).remove)
        yield


@contextmanager
def only_at(unembedding: nn.Module, where: Int[torch.Tensor, "n 2"]) -> Iterator[None]:
    """Let the unembedding see the stream at (row, position) pairs only: its input becomes [1, n, d_model]."""

    def pick(_: nn.Module, args: tuple[Any, ...]) -> tuple[torch.Tensor]:
        stream: torch.Tensor = args[0]
        return (stream[where[:, 0], where[:, 1]].unsqueeze(0),)

    hook = unembedding.register_forward_pre_hook(pick)
    try:
        yield
    finally:
        hook.remove()


@contextmanager
def reading_input(module: nn.Module, keep: Callable[[torch.Tensor], None]) -> Iterator[None]:
    """Call ``keep`` with what goes into a module, after what gates have made of it."""

    def hook(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        keep(args[0] if args else kwargs["hidden_states"])

    handle = module.register_forward_pre_hook(hook, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def changing_input(module: nn.Module, change: Callable[[torch.Tensor], torch.Tensor]) -> Iterator[None]:
    """Put ``change(input)`` in the place of what goes into a module, after what gates have made of it."""

    def hook(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if args:
            return (change(args[0]), *args[1:]), kwargs
        return args, {**kwargs, "hidden_states": change(kwargs["hidden_states"])}

    handle = module.register_forward_pre_hook(hook, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def reading_output(module: nn.Module, keep: Callable[[torch.Tensor], None]) -> Iterator[None]:
    """Call ``keep`` with what comes out of a module."""

    def hook(_: nn.Module, __: Any, out: Any) -> None:
        keep(out[0] if isinstance(out, (tuple, list)) else out)

    handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def changing_output(module: nn.Module, change: Callable[[torch.Tensor], torch.Tensor]) -> Iterator[None]:
    """Put ``change(output)`` in the place of what comes out of a module."""

    def hook(_: nn.Module, __: Any, out: Any) -> Any:
        return (change(out[0]), *out[1:]) if isinstance(out, tuple) else change(out)

    handle = module.register_forward_hook(hook)
    try:
        yield
    finally:
        handle.remove()


class _Gate:
    """Pre-hook of one layer: z * gate, and r * (1 - gate) where there is one.

    A gate of exactly 1 leaves every bit of z as it is (but the sign of a zero, where there is an r).
    """

    def __init__(self, gate: torch.Tensor, inside: _Inside | None) -> None:
        self.gate = gate  # [head], [batch, head] or [batch, pos, head]
        self.inside = inside

    def __call__(self, _: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
        z: torch.Tensor = args[0]
        gate = self.gate.to(dtype=z.dtype, device=z.device)
        n_heads = gate.shape[-1]
        if gate.shape[:-1] != z.shape[: gate.ndim - 1]:
            raise Invalid(
                f"Gates for {gate.shape[0]} rows don't fit a batch of {z.shape[0]}.",
                "Give one set of gates, or one per row of the batch.",
                code="bad-gates",
            )
        scale = (gate[:, None] if gate.ndim == 2 else gate).unsqueeze(-1)
        heads = z.view(*z.shape[:-1], n_heads, z.shape[-1] // n_heads)
        mixed = heads * scale
        if self.inside is not None:
            mixed = mixed + self.inside(heads) * (1 - scale)
        return (mixed.flatten(-2), *args[1:])


class _Inside:
    """r of one layer, as a pass asks for it."""

    def __init__(self, replacement: Replacement, layer: int, seen: Callable[[], int]) -> None:
        self.replacement, self.layer, self.seen = replacement, layer, seen

    def __call__(self, heads: torch.Tensor) -> torch.Tensor:
        """[batch or 1, pos, head, d_head], of the type of z [batch, pos, head, d_head]."""
        rows, n, *shape = heads.shape
        entries = self.replacement.entries(self.seen(), rows, n).to(heads.device)
        table = self.replacement.table[:, self.layer].to(heads).flatten(1)
        found: torch.Tensor = nn.functional.embedding(entries, table).unflatten(-1, tuple(shape))
        return found
