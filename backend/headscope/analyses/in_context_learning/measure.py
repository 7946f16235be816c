"""Losses of documents, of the model as it is and with heads closed one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from jaxtyping import Float, Int

from headscope.analyses.in_context_learning.schema import EARLY, LATE
from headscope.core.model.batches import budget_for
from headscope.core.model.head_list import Head
from headscope.core.model.head_model import HeadModel


@torch.no_grad()
def losses(
    model: HeadModel, tokens: Int[torch.Tensor, "document pos"], checkpoint: Callable[[], None]
) -> Float[torch.Tensor, "document pos"]:
    """Nats of every token given all before it; NaN for the first."""
    found = torch.full(tuple(tokens.shape), torch.nan)
    for rows in _passes(model, tokens):
        checkpoint()
        found[rows] = model.losses(tokens[rows]).float().cpu()
    return found


def closed(
    model: HeadModel,
    tokens: Int[torch.Tensor, "document pos"],
    heads: Sequence[Head],
    window: int,
    checkpoint: Callable[[], None],
    report: Callable[[int], None],
) -> tuple[Float[torch.Tensor, "head document 2"], Float[torch.Tensor, "head document 2"]]:
    """With each head closed alone (its output 0 everywhere): early and late loss, and their means over so
    many tokens on either side. ``report`` is told how many heads are done.
    """
    info = model.info
    at, around = [], []
    for done, head in enumerate(heads, 1):
        gates = torch.ones(info.n_layers, info.n_heads, device=model.device, dtype=model.dtype)
        gates[head] = 0
        with model.gated(gates):
            loss = losses(model, tokens, checkpoint)
        at.append(loss[:, (EARLY, LATE)])
        around.append(
            torch.stack([loss[:, p - window : p + window + 1].mean(1) for p in (EARLY, LATE)], dim=1)
        )
        report(done)
    return torch.stack(at), torch.stack(around)


def _passes(model: HeadModel, tokens: Int[torch.Tensor, "document pos"]) -> Iterator[slice]:
    """Documents that go through the model at once, by the device's budget."""
    length = int(tokens.shape[1])
    most = max(1, int(1 / budget_for(model.device).share(model.info, length, length)))
    for first in range(0, len(tokens), most):
        yield slice(first, first + most)
