"""Gates that interpolate between a head's mixed value and r, on a micro model: loops, a row at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from micro.model import MicroModel

Inside = Callable[[int, int, int], Tensor]
"""r at (layer, head, position)."""


def mixed_values(model: MicroModel, tokens: Sequence[int]) -> Tensor:
    """z [layer, head, pos, d_head] of the model as it is."""
    return _pass(model, tokens, torch.ones(model.W_Q.shape[:2]), lambda *_: torch.zeros(1))[1]


def loss(model: MicroModel, tokens: Sequence[int], targets: Sequence[int], gates: Tensor, r: Inside) -> float:
    """Mean NLL of the target tokens, nats."""
    predicted = _pass(model, tokens, gates, r)[0].log_softmax(dim=1)
    return float(-sum(predicted[p - 1, tokens[p]] for p in targets) / len(targets))


def _pass(model: MicroModel, tokens: Sequence[int], gates: Tensor, r: Inside) -> tuple[Tensor, Tensor]:
    n_layers, n_heads, _, d_head = model.W_Q.shape
    stream = torch.stack([model.W_E[token] + model.W_pos[p] for p, token in enumerate(tokens)])
    kept = torch.zeros(n_layers, n_heads, len(tokens), d_head, dtype=torch.float64)
    for layer in range(n_layers):
        added = torch.zeros_like(stream)
        for head in range(n_heads):
            q, k, v = (stream @ w[layer, head] for w in (model.W_Q, model.W_K, model.W_V))
            for p in range(len(tokens)):
                weights = (k[: p + 1] @ q[p] / math.sqrt(d_head)).softmax(dim=0)
                z = weights @ v[: p + 1]
                kept[layer, head, p] = z
                g = gates[layer, head]
                added[p] += (g * z + (1 - g) * r(layer, head, p)) @ model.W_O[layer, head]
        stream = stream + added
    return stream @ model.W_U, kept
