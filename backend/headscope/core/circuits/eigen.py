"""Eigenvalues of a head's OV and QK circuits, without ever forming a vocab x vocab matrix.

The circuits are W_E W_V W_O W_U and W_E W_Q W_K^T W_E^T, of rank d_head at most. The non-zero eigenvalues of
A B are those of B A, so with two Gram matrices [d_model, d_model], formed once a model, every head is a
d_head x d_head problem:

    OV  eig(W_O (W_U W_E) W_V)
    QK  eig(W_K^T (W_E^T W_E) W_Q)

The QK circuit of an induction head is empty by itself: its keys are written by a previous-token head p in an
earlier layer. Through K-composition its circuit is W_E W_Q W_K^T (W_V^p W_O^p)^T W_E^T, hence

    QK through p         eig((W_O^p W_K)^T (W_V^p)^T (W_E^T W_E) W_Q)
    QK through them all  the same with sum over p of c_p W_V^p W_O^p, c the previous-token scores of all
                         earlier heads divided by their sum

Positivity = Re(sum lambda) / sum |lambda|, in [-1, 1]: 1 where tokens raise (OV) or match (QK) themselves.
Source: A Mathematical Framework for Transformer Circuits, 2021, "Summarizing OV/QK matrices".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Complex, Float

from headscope.core.circuits.weights import LayerWeights, Weights


@dataclass(frozen=True)
class Spectra:
    """Eigenvalues of every head, largest modulus first."""

    ov: Complex[torch.Tensor, "layer head d_head"]
    qk: Complex[torch.Tensor, "layer head d_head"]


def qk_turned(
    weights: Weights,
    rotations: Float[torch.Tensor, "layer d_head d_head"],
    checkpoint: Callable[[], None] = lambda: None,
) -> Complex[torch.Tensor, "layer head d_head"]:
    """QK spectra of a rotary model at a fixed distance: eig(W_K^T (W_E^T W_E) W_Q R), R as in rotary.py."""
    found = []
    for layer, rotation in zip(weights.layers(), rotations, strict=True):
        checkpoint()
        found.append(eigenvalues(layer.W_K.mT @ weights.gram_ee @ layer.W_Q @ rotation))
    return torch.stack(found)


@dataclass(frozen=True)
class ThroughPrevious:
    """QK through K-composition. Heads of the first layer have nothing before them: NaN.

    ``best`` is the head taken, (layer, head), the earlier one with the highest previous-token score; (-1, -1)
    for the first layer.
    """

    best: tuple[tuple[int, int], ...]
    through_best: Complex[torch.Tensor, "layer head d_head"]
    through_all: Complex[torch.Tensor, "layer head d_head"]


def spectra(weights: Weights, checkpoint: Callable[[], None] = lambda: None) -> Spectra:
    """The OV and QK spectra of all heads."""
    ov, qk = [], []
    for layer in weights.layers():
        checkpoint()
        ov.append(eigenvalues(layer.W_O @ weights.gram_ue @ layer.W_V))
        qk.append(eigenvalues(layer.W_K.mT @ weights.gram_ee @ layer.W_Q))
    return Spectra(torch.stack(ov), torch.stack(qk))


def through_previous(
    weights: Weights,
    previous: Float[torch.Tensor, "layer head"],
    checkpoint: Callable[[], None] = lambda: None,
) -> ThroughPrevious:
    """QK spectra of all heads with keys written by previous-token heads; ``previous`` are their scores."""
    shape = (weights.info.n_heads, weights.info.d_head)
    nothing = torch.full(shape, torch.nan).to(eigenvalues(torch.zeros(1, 1, dtype=weights.dtype)).dtype)
    mixed = torch.zeros_like(weights.gram_ee)
    bests, through_best, through_all = [(-1, -1)], [nothing], [nothing]
    before = weights.layer(0)
    best, best_weights = (-1, -1), before
    top = -torch.inf
    for number in range(1, weights.info.n_layers):
        checkpoint()
        scores = previous[number - 1].to(weights.gram_ee)
        mixed = mixed + torch.einsum("h,hmd,hdn->mn", scores, before.W_V, before.W_O)
        if float(scores.max()) > top:
            top, best, best_weights = float(scores.max()), (number - 1, int(scores.argmax())), before
        layer = weights.layer(number)
        read = weights.gram_ee @ layer.W_Q
        W_V, W_O = best_weights.W_V[best[1]], best_weights.W_O[best[1]]
        bests.append(best)
        through_best.append(eigenvalues((W_O @ layer.W_K).mT @ (W_V.mT @ read)))
        through_all.append(eigenvalues(layer.W_K.mT @ (mixed.mT @ read) / previous[:number].sum().to(mixed)))
        before = layer
    return ThroughPrevious(tuple(bests), torch.stack(through_best), torch.stack(through_all))


def positivity(
    values: Complex[torch.Tensor, "*head d_head"],
) -> Float[torch.Tensor, "*head"]:
    """Re(sum lambda) / sum |lambda|, in [-1, 1]; NaN where all are 0."""
    return values.sum(-1).real / values.abs().sum(-1)


def eigenvalues(matrices: Float[torch.Tensor, "*head n n"]) -> Complex[torch.Tensor, "*head n"]:
    """Sorted by modulus, on the CPU, where small problems are solved fastest; NaN for a matrix with NaN."""
    matrices = matrices.cpu()
    bad = ~matrices.isfinite().all(-1).all(-1)
    found = torch.linalg.eigvals(torch.where(bad[..., None, None], 0, matrices))
    found = torch.where(bad[..., None], torch.nan, found)
    return found.gather(-1, found.abs().argsort(dim=-1, descending=True))


def residual_spectrum(layer: LayerWeights) -> Complex[torch.Tensor, "head d_head"]:
    """Eigenvalues of W_V W_O in the residual stream: what a head adds to what it reads, or takes away."""
    return eigenvalues(layer.W_O @ layer.W_V)
