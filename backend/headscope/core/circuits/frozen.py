"""One prompt through the model, with everything kept that makes the rest linear: patterns and norm scales.

With each head's pattern A and each norm's scale s held at what they were on the prompt, a model without MLPs
is linear in its embedding, up to biases. Writing x for the stream and folded weights for W
(core.circuits.weights),

    z[l,h] = A[l,h] (s[l] x W_V + b_V)        (rows of A sum to 1, or to less beside a sink)
    x <- x + p[l] (sum over h of z[l,h] W_O + b_O)    p the scale of a norm behind attention, else 1
    logits = s_final x W_U + b_U

Models that cap their logits do so after this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import cast

import torch
from jaxtyping import Float, Int
from torch import nn

from headscope.core.circuits.weights import Weights
from headscope.core.model.hooks import reading_input
from headscope.core.model.norms import norm_scale
from headscope.errors import Invalid

SOURCES = ("token", "position", "bias")
"""Where a path starts: the token's embedding, its learned position, or a constant of the model."""


@dataclass(frozen=True)
class Frozen:
    """What one prompt held. ``sources`` [source, pos, d_model] are the stream before the first layer (biases
    start at 0 there); ``final`` the stream before the last norm; ``scale``, ``post`` [layer, pos].
    """

    tokens: Int[torch.Tensor, " pos"]
    patterns: Float[torch.Tensor, "layer head pos pos"]
    scale: Float[torch.Tensor, "layer pos"]
    post: Float[torch.Tensor, "layer pos"]
    final_scale: Float[torch.Tensor, " pos"]
    sources: Float[torch.Tensor, "source pos d_model"]
    final: Float[torch.Tensor, "pos d_model"]
    logits: Float[torch.Tensor, "pos vocab"]


def freeze(weights: Weights, ids: Sequence[int]) -> Frozen:
    """One pass over a prompt. Needs folded weights. Raises Invalid beyond the context or without tokens."""
    info, model, parts = weights.info, weights.model, weights.model.parts
    if weights.processing != "folded":
        raise Invalid("Paths are exact with folded weights only.", "Use folded.", code="bad-processing")
    if not 0 < len(ids) <= info.n_ctx:
        raise Invalid(
            f"{len(ids)} tokens don't fit the context of {info.n_ctx}.",
            "Use between 1 and that many.",
            code="too-long",
        )
    tokens = torch.tensor([list(ids)], device=model.device)
    patterns: list[torch.Tensor] = []
    seen: dict[nn.Module, torch.Tensor] = {}

    def keep(norm: nn.Module) -> Callable[[torch.Tensor], None]:
        return lambda stream: seen.update({norm: stream[0].to(weights.dtype, copy=True)})

    with torch.no_grad(), ExitStack() as hooks:
        hooks.enter_context(model.reading(lambda _, pattern, __: patterns.append(pattern[0].clone())))
        for norm in (*parts.entry_norms, *parts.attention_norms, parts.final_norm):
            if norm is not None:
                hooks.enter_context(reading_input(norm, keep(norm)))
        logits = model.logits(tokens)
    ones = torch.ones(len(ids), dtype=weights.dtype, device=tokens.device)

    def scale(norm: nn.Module | None) -> torch.Tensor:
        return ones if norm is None else norm_scale(norm, seen[norm])

    final = cast("nn.Module", parts.final_norm)  # weights without one were refused

    embedded = weights.W_E[tokens[0]]
    placed = torch.zeros_like(embedded) if weights.W_pos is None else weights.W_pos[: len(ids)]
    return Frozen(
        tokens[0],
        torch.stack(patterns).to(weights.dtype),
        torch.stack([scale(norm) for norm in parts.entry_norms]),
        torch.stack([scale(norm) for norm in parts.attention_norms]),
        scale(final),
        torch.stack([embedded, placed, torch.zeros_like(embedded)]),
        seen[final],
        logits[0].to(weights.dtype),
    )
