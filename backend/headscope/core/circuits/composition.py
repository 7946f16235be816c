"""Composition of an earlier head 1 with a later head 2: how much of what 2 reads is written by 1.

With Frobenius norms, W_OV = W_V W_O and W_QK = W_Q W_K^T [A Mathematical Framework, 2021]:

    Q  ||W_OV1 W_QK2||   / (||W_OV1|| ||W_QK2||)
    K  ||W_OV1 W_QK2^T|| / (||W_OV1|| ||W_QK2||)
    V  ||W_OV1 W_OV2||   / (||W_OV1|| ||W_OV2||)

The norm is of the product in this order: the published figure's erratum is that it was taken of a cyclic
reordering, which has another norm. No d_model x d_model matrix is formed. A matrix V O of rank d_head has the
norms of L^T O, where V^T V = L L^T; so each writer and each reader shrinks to one factor,

    writer  L1^T W_O1        [d_head, d_model]     W_V1^T W_V1 = L1 L1^T
    reader  W_Q2 L2          [d_model, d_head]     W_K2^T W_K2 = L2 L2^T        (K: Q and K change places;
                                                                               V: W_V2 and W_O2 W_O2^T)

and ||W_OV1 W_QK2|| = ||writer1 reader2||, a d_head x d_head product for every pair.

A score above 0 is the rule: random matrices of the same shape give 1 / sqrt(d_model) nearly. ``baseline``
is their mean, measured on Gaussian matrices; what is above it says something. TransformerLens doesn't
subtract it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float

from headscope.core.circuits.weights import LayerWeights, Weights

KINDS = ("q", "k", "v")


@dataclass(frozen=True)
class Composition:
    """``scores`` in [0, 1] by kind (q, k, v), earlier head and later head; NaN where 1 isn't earlier than 2.

    ``baseline`` is not subtracted in ``scores``.
    """

    scores: Float[torch.Tensor, "kind layer head layer head"]
    baseline: float

    @property
    def above(self) -> Float[torch.Tensor, "kind layer head layer head"]:
        """The scores minus the baseline."""
        return self.scores - self.baseline


def composition(
    weights: Weights, checkpoint: Callable[[], None] = lambda: None, seed: int = 0
) -> Composition:
    """Q, K and V composition of every pair of heads in different layers."""
    info = weights.info
    shape = (len(KINDS), info.n_layers, info.n_heads, info.n_layers, info.n_heads)
    scores = torch.full(shape, torch.nan, dtype=weights.dtype)
    writers: list[torch.Tensor] = []
    for later, layer in enumerate(weights.layers()):
        checkpoint()
        if writers:
            written = torch.cat(writers)
            for kind, reader in enumerate(readers(layer)):
                scores[kind, :later, :, later] = (
                    pair_norms(written, reader).reshape(later, info.n_heads, -1).cpu()
                )
        writers.append(unit(writer(layer)))
    return Composition(scores, baseline(info.d_model, info.d_head, seed=seed))


def pair_norms(
    written: Float[torch.Tensor, "one d_head d_model"], read: Float[torch.Tensor, "two d_model d_head"]
) -> Float[torch.Tensor, "one two"]:
    """||writer reader|| of every pair: one product for all heads of a layer."""
    n_read, d_model, width = read.shape
    side_by_side = read.permute(1, 0, 2).reshape(d_model, n_read * width)
    products = written.reshape(-1, d_model) @ side_by_side
    blocks = products.square_().view(len(written), -1, n_read, width)
    return blocks.sum((1, 3)).sqrt()


def writer(layer: LayerWeights) -> Float[torch.Tensor, "head d_head d_model"]:
    """One factor with the norms of W_V W_O from the right."""
    return root(layer.W_V.mT @ layer.W_V).mT @ layer.W_O


def readers(layer: LayerWeights) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """One factor for Q, K and V each, [head, d_model, d_head], of norm 1."""
    return (
        unit(layer.W_Q @ root(layer.W_K.mT @ layer.W_K)),
        unit(layer.W_K @ root(layer.W_Q.mT @ layer.W_Q)),
        unit(layer.W_V @ root(layer.W_O @ layer.W_O.mT)),
    )


def root(gram: Float[torch.Tensor, "*head d d"]) -> Float[torch.Tensor, "*head d d"]:
    """L with L L^T = gram, through its eigenvectors: a Cholesky factor would refuse a dead head."""
    values, vectors = torch.linalg.eigh(gram)
    scaled: torch.Tensor = vectors * values.clamp_min(0).sqrt().unsqueeze(-2)
    return scaled


def unit(factors: Float[torch.Tensor, "*head n m"]) -> Float[torch.Tensor, "*head n m"]:
    """Divided by their norm; a head that is all zero gives NaN, as its scores are undefined."""
    normed: torch.Tensor = factors / factors.norm(dim=(-2, -1), keepdim=True)
    return normed


def baseline(d_model: int, d_head: int, *, draws: int = 24, seed: int = 0) -> float:
    """The mean score of Gaussian matrices of the same shape, over draws x draws pairs: about d_model^-0.5."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(draws, *shape, generator=generator) / math.sqrt(shape[-1])

    gram = draw(d_model, d_head)
    written = unit(root(gram.mT @ gram).mT @ draw(d_head, d_model))
    gram = draw(d_model, d_head)
    read = unit(draw(d_model, d_head) @ root(gram.mT @ gram))
    return float(pair_norms(written, read).mean())
