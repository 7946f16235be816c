"""From the last stream to losses: what a model does after its unembedding, and losses a block at a time.

Some architectures bend or scale the unembedding's output: Gemma-2 caps it, c tanh(x / c); Granite and Cohere
multiply it by a number. Which one it is, is measured on a short pass and never guessed from a name alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

import torch
from jaxtyping import Float, Int
from torch import nn

_BLOCK: Final = 256
"""Positions whose logits exist at a time."""


@dataclass(frozen=True)
class Tail:
    """What stands between the unembedding's output and the logits: nothing, a soft cap or a factor of
    ``value``.

    ``other``: something that is none of these; only the model's own pass gives its logits.
    """

    kind: Literal["plain", "cap", "factor", "other"]
    value: float = 1.0

    def __call__(self, raw: Float[torch.Tensor, "*axes vocab"]) -> Float[torch.Tensor, "*axes vocab"]:
        """The logits."""
        if self.kind == "cap":
            return torch.tanh(raw / self.value) * self.value
        return raw * self.value if self.kind == "factor" else raw


def measure_tail(
    raw: Float[torch.Tensor, "*axes vocab"], logits: Float[torch.Tensor, "*axes vocab"], cap: float | None
) -> Tail:
    """The tail that makes these logits of this output; ``cap`` is what the configuration says, if so."""
    if torch.equal(raw.to(logits), logits):  # some architectures widen their logits
        return Tail("plain")
    raw, logits = raw.double(), logits.double()
    factor = float((raw * logits).sum() / (raw * raw).sum())
    for tail in ([Tail("cap", cap)] if cap else []) + [Tail("factor", factor)]:
        if torch.allclose(tail(raw), logits, rtol=1e-2, atol=1e-3 * float(logits.abs().max())):
            return tail
    return Tail("other")


@contextmanager
def keeping_stream(unembedding: nn.Module, into: list[torch.Tensor]) -> Iterator[None]:
    """Keep what goes into the unembedding [batch, pos, d_model], and let it see the first position only."""

    def keep(_: nn.Module, args: tuple[Any, ...]) -> tuple[torch.Tensor]:
        stream: torch.Tensor = args[0]
        into.append(stream)
        return (stream[:, :1],)

    hook = unembedding.register_forward_pre_hook(keep)
    try:
        yield
    finally:
        hook.remove()


def token_losses(
    read: Callable[[torch.Tensor], torch.Tensor],
    rows: Float[torch.Tensor, "batch pos width"],
    tokens: Int[torch.Tensor, "batch pos"],
) -> Float[torch.Tensor, "batch pos"]:
    """Nats of each token as predicted at the position before, NaN for the first; a block at a time.

    ``read`` turns rows (the stream, or logits) into logits.
    """
    before = rows[:, :-1].flatten(0, 1)
    following = tokens[:, 1:].flatten()
    losses = [
        nn.functional.cross_entropy(
            _precise(read(before[start : start + _BLOCK])),
            following[start : start + _BLOCK],
            reduction="none",
        ).float()
        for start in range(0, len(following), _BLOCK)
    ]
    first = torch.full((len(tokens), 1), torch.nan, device=tokens.device)
    if not losses:
        return first
    return torch.cat([first, torch.cat(losses).view(len(tokens), -1)], 1)


def _precise(logits: torch.Tensor) -> torch.Tensor:
    return logits if logits.dtype == torch.float64 else logits.float()
