"""Term importance: how much of the loss paths of each order, each head and each virtual head account for.

The loss is the mean over the tokens ``scored`` of a prompt: those that something before them tells. Of random
tokens that repeat, only the second copy is, from its second token on; averaged over the first copy, which
nobody can predict, what matters is what makes wild guesses less wrong.

All patterns and norm scales of a prompt are frozen. The loss of order n is that of the logits from the paths
through at most n heads: heads read only what paths of up to n - 1 heads wrote. What went through MLPs is left
as it was in all of them, so that the last order's loss is the model's. Then, nats a token:

    a head's marginal effect = loss without its one-head terms - loss of order 1
    a virtual head's         = loss without its two-head terms - loss of order 2

Source: A Mathematical Framework for Transformer Circuits, 2021, "Term importance analysis".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int

from headscope.core.circuits.frozen import Frozen
from headscope.core.circuits.paths import has_mlp, stream_by_order
from headscope.core.circuits.weights import LayerWeights, Weights

MOST_PAIRS = 512
"""Virtual heads that are left out one at a time; a model with more has none measured."""


@dataclass(frozen=True)
class Importance:
    """Nats a token. ``virtual`` [earlier layer, head, later layer, head], NaN where not measured."""

    orders: Float[torch.Tensor, " order"]
    heads: Float[torch.Tensor, "layer head"]
    virtual: Float[torch.Tensor, "layer head layer head"]


def importance(
    weights: Weights,
    frozen: Frozen,
    checkpoint: Callable[[], None] = lambda: None,
    *,
    scored: Sequence[int] | None = None,
) -> Importance:
    """Of one prompt of at least two tokens. ``scored`` are positions of tokens whose prediction counts, from
    1; all of them where None.
    """
    info = weights.info
    counted = torch.tensor(range(1, len(frozen.tokens)) if scored is None else scored)

    def loss(stream: Float[torch.Tensor, "pos d_model"]) -> Float[torch.Tensor, ""]:
        return _loss(weights, frozen, stream, counted)

    orders = stream_by_order(weights, frozen, checkpoint)
    through_mlp = frozen.final - orders.sum(0)
    if not has_mlp(weights):
        through_mlp = torch.zeros_like(through_mlp)
    upto = orders.cumsum(0) + through_mlp
    losses = torch.stack([loss(stream) for stream in upto])
    layers = list(weights.layers())
    constants = _constants(frozen, layers)
    heads = torch.full((info.n_layers, info.n_heads), torch.nan, dtype=weights.dtype)
    shape = (info.n_layers, info.n_heads, info.n_layers, info.n_heads)
    virtual = torch.full(shape, torch.nan, dtype=weights.dtype)
    pairs = info.n_heads**2 * info.n_layers * (info.n_layers - 1) // 2
    outputs: list[torch.Tensor] = []
    for number, layer in enumerate(layers):
        one = _outputs(frozen, number, layer, constants[number]) + _value_bias(frozen, number, layer)
        for head in range(info.n_heads):
            checkpoint()
            heads[number, head] = loss(upto[1] - one[head]) - losses[1]
        if pairs <= MOST_PAIRS:
            for before, earlier in enumerate(outputs):
                for start in range(info.n_heads):
                    checkpoint()
                    two = _outputs(frozen, number, layer, earlier[start])
                    for head in range(info.n_heads):
                        without = loss(upto[2] - two[head])
                        virtual[before, start, number, head] = without - losses[2]
        outputs.append(one)
    return Importance(losses.cpu(), heads, virtual)


def _constants(frozen: Frozen, layers: list[LayerWeights]) -> list[torch.Tensor]:
    """The order-0 stream as each layer reads it."""
    found = [frozen.sources.sum(0)]
    for number, layer in enumerate(layers):
        found.append(found[-1] + layer.b_O * frozen.post[number][:, None])
    return found


def _outputs(
    frozen: Frozen, number: int, layer: LayerWeights, stream: Float[torch.Tensor, "pos d_model"]
) -> Float[torch.Tensor, "head pos d_model"]:
    values = (stream * frozen.scale[number][:, None]) @ layer.W_V
    return frozen.patterns[number] @ values @ layer.W_O * frozen.post[number][:, None]


def _value_bias(frozen: Frozen, number: int, layer: LayerWeights) -> Float[torch.Tensor, "head pos d_model"]:
    return (layer.b_V[:, None] @ layer.W_O) * frozen.post[number][:, None]


def _loss(
    weights: Weights,
    frozen: Frozen,
    stream: Float[torch.Tensor, "pos d_model"],
    counted: Int[torch.Tensor, " scored"],
) -> Float[torch.Tensor, ""]:
    read = stream[counted - 1] * frozen.final_scale[counted - 1, None]
    return torch.nn.functional.cross_entropy(read @ weights.W_U + weights.b_U, frozen.tokens[counted])
