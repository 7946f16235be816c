"""One prompt through the model, with everything kept that makes the rest linear: patterns and norm scales.

With each head's pattern A and each norm's scale s held at what they were on the prompt, a model without MLPs
is linear in its embedding, up to biases. Writing x for the stream and folded weights for W
(core.circuits.weights),

    z[l,h] = A[l,h] (s[l] x W_V) + b_V        (rows of A sum to 1, so b_V passes it unchanged)
    x <- x + p[l] (sum over h of z[l,h] W_O + b_O)    p the scale of a norm behind attention, else 1
    logits = s_final x W_U + b_U

Models that cap their logits do so after this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int

from headscope.core.circuits.bridged_pass import bridged_pass
from headscope.core.circuits.weights import Weights
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
    info, bridge = weights.info, weights.bridge
    if weights.processing != "folded":
        raise Invalid("Paths are exact with folded weights only.", "Use folded.", code="bad-processing")
    if not 0 < len(ids) <= info.n_ctx:
        raise Invalid(
            f"{len(ids)} tokens don't fit the context of {info.n_ctx}.",
            "Use between 1 and that many.",
            code="too-long",
        )
    tokens = torch.tensor([list(ids)], device=weights.model.device)
    points: dict[str, Any] = {"final": bridge.ln_final.hook_in}
    for layer, block in enumerate(bridge.blocks):
        points[f"pattern {layer}"] = block.attn.hook_pattern
        for name in ("ln1", "ln1_post"):
            if name in block.submodules:
                points[f"{name} {layer}"] = getattr(block, name).hook_in
    logits, seen = bridged_pass(bridge, tokens, points)
    wide = {name: tensor[0].to(weights.dtype) for name, tensor in seen.items()}
    ones = torch.ones(len(ids), dtype=weights.dtype, device=tokens.device)

    def scales(name: str) -> torch.Tensor:
        return torch.stack(
            [
                norm_scale(getattr(block, name), wide[f"{name} {layer}"])
                if f"{name} {layer}" in wide
                else ones
                for layer, block in enumerate(bridge.blocks)
            ]
        )

    embedded = weights.W_E[tokens[0]]
    placed = torch.zeros_like(embedded) if weights.W_pos is None else weights.W_pos[: len(ids)]
    return Frozen(
        tokens[0],
        torch.stack([wide[f"pattern {layer}"] for layer in range(info.n_layers)]),
        scales("ln1"),
        scales("ln1_post"),
        norm_scale(bridge.ln_final, wide["final"]),
        torch.stack([embedded, placed, torch.zeros_like(embedded)]),
        wide["final"],
        logits[0].to(weights.dtype),
    )
