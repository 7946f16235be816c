"""The residual stream as memory: what is written to it, read from it, and taken away again.

1. Reads: for every writer (embedding, positions, heads, MLPs) and every later reader (heads' queries, keys
   and values, MLPs, unembedding) the share ||W R|| / (||W|| ||R||) of core.circuits.virtual. Each component
   shrinks to one factor of the same norm, so that all pairs are products of thin matrices.
2. Memory management: a neuron whose output points against its input (cosine near -1) clears what it reads. So
   does a head whose W_V W_O has negative eigenvalues and that attends to the present token: ``erasing`` =
   - positivity of eig(W_V W_O).
3. Norms along the stream on a prompt: of the stream before each layer and at the end, and of what attention
   and the MLP add in each.

Source: A Mathematical Framework for Transformer Circuits, 2021, "Virtual weights and the residual stream".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import torch
from jaxtyping import Float

from headscope.core.circuits.composition import readers, root, unit, writer
from headscope.core.circuits.eigen import positivity, residual_spectrum
from headscope.core.circuits.weights import Weights
from headscope.core.model.hooks import reading_input, reading_output


@dataclass(frozen=True)
class Reads:
    """``shares`` [writer, reader] in [0, 1]; NaN where the reader doesn't come after the writer. ``norms``
    [writer]: how much each writes at most, its Frobenius norm.
    """

    writers: tuple[str, ...]
    readers: tuple[str, ...]
    shares: Float[torch.Tensor, "writer reader"]
    norms: Float[torch.Tensor, " writer"]


@dataclass(frozen=True)
class Memory:
    """``cosine`` [layer, neuron] between a neuron's input and output weights, NaN where there is no MLP;
    ``erasing`` [layer, head] in [-1, 1]: 1 takes away what it reads, -1 adds it once more.
    """

    cosine: Float[torch.Tensor, "layer neuron"]
    erasing: Float[torch.Tensor, "layer head"]


@dataclass(frozen=True)
class Norms:
    """Euclidean norms on a prompt: of the stream before each layer and at the end, and of what is added."""

    stream: Float[torch.Tensor, "place pos"]
    attention: Float[torch.Tensor, "layer pos"]
    mlp: Float[torch.Tensor, "layer pos"]


def reads(weights: Weights, checkpoint: Callable[[], None] = lambda: None) -> Reads:
    """All pairs of components. Factors of all writers are held: about the size of the model."""
    writers, norms, factors = _first_writers(weights)
    names: list[str] = []
    columns: list[torch.Tensor] = []

    def read(name: list[str], factor: list[torch.Tensor]) -> None:
        names.extend(name)
        columns.append(_shares(factors, factor))

    for number, layer in enumerate(weights.layers()):
        checkpoint()
        for kind, block in zip("qkv", readers(layer), strict=True):
            read([f"{number}.{head} {kind}" for head in range(len(block))], list(block))
        for head, factor in enumerate(writer(layer)):
            writers.append(f"{number}.{head}")
            norms.append(factor.norm())
            factors.append(unit(factor))
        mlp = weights.mlp(number)
        if mlp is not None:
            checkpoint()
            read([f"mlp {number}"], [unit(root(mlp.W_in @ mlp.W_in.T))])
            factor = root(mlp.W_out.T @ mlp.W_out).T
            writers.append(f"mlp {number}")
            norms.append(factor.norm())
            factors.append(unit(factor))
    read(["unembed"], [unit(root(weights.W_U @ weights.W_U.T))])
    shares = torch.full((len(writers), len(names)), torch.nan, dtype=weights.dtype)
    start = 0
    for block in columns:
        shares[: len(block), start : start + block.shape[1]] = block.cpu()
        start += block.shape[1]
    return Reads(tuple(writers), tuple(names), shares, torch.stack(norms).cpu())


def memory(weights: Weights, checkpoint: Callable[[], None] = lambda: None) -> Memory:
    """Neurons and heads that clear what they read."""
    cosines, erasing = [], []
    for number, layer in enumerate(weights.layers()):
        checkpoint()
        erasing.append(-positivity(residual_spectrum(layer)))
        mlp = weights.mlp(number)
        if mlp is None:
            cosines.append(torch.zeros(0, dtype=weights.dtype))
        else:
            cosines.append(torch.cosine_similarity(mlp.W_in.T, mlp.W_out, dim=1).cpu())
    widest = max(len(row) for row in cosines)
    cosine = torch.full((len(cosines), widest), torch.nan, dtype=weights.dtype)
    for number, row in enumerate(cosines):
        cosine[number, : len(row)] = row
    return Memory(cosine, torch.stack(erasing))


def norms(weights: Weights, ids: Sequence[int]) -> Norms:
    """Along the stream of one prompt, from one pass."""
    parts, tokens = weights.model.parts, torch.tensor([list(ids)], device=weights.model.device)
    seen: dict[tuple[str, int], torch.Tensor] = {}

    def keep(name: str, layer: int) -> Callable[[torch.Tensor], None]:
        return lambda out: seen.update({(name, layer): _norms(out.to(weights.dtype), len(ids))})

    with torch.no_grad(), ExitStack() as hooks:
        for layer, block in enumerate(parts.blocks):
            hooks.enter_context(reading_input(block, keep("stream", layer)))
            attention = parts.attention_norms[layer] or parts.projections[layer]
            hooks.enter_context(reading_output(attention, keep("attention", layer)))
            mlp = parts.mlp_norms[layer] or parts.mlps[layer]
            if mlp is not None:
                hooks.enter_context(reading_output(mlp, keep("mlp", layer)))
        if parts.final_norm is not None:
            hooks.enter_context(reading_input(parts.final_norm, keep("stream", len(parts.blocks))))
        weights.model.logits(tokens)
    none = torch.full((len(ids),), torch.nan, dtype=weights.dtype)

    def along(name: str, places: int, factor: float = 1.0) -> torch.Tensor:
        return torch.stack([seen.get((name, place), none) * factor for place in range(places)])

    layers = weights.info.n_layers
    return Norms(
        along("stream", layers + 1),
        along("attention", layers, parts.factor),
        along("mlp", layers, parts.factor),
    )


def _norms(out: Float[torch.Tensor, "*axes width"], n: int) -> Float[torch.Tensor, " pos"]:
    """Of one row, whether it has an axis of its own or not."""
    norms: torch.Tensor = out.view(n, -1).norm(dim=1)
    return norms.cpu()


def _first_writers(weights: Weights) -> tuple[list[str], list[torch.Tensor], list[torch.Tensor]]:
    """Names, norms and factors of what stands in the stream before the first layer."""
    tables = [("embed", weights.gram_ee)]
    if weights.W_pos is not None:
        tables.append(("position", weights.W_pos.T @ weights.W_pos))
    factors = [root(gram).T for _, gram in tables]
    return (
        [name for name, _ in tables],
        [factor.norm() for factor in factors],
        [unit(factor) for factor in factors],
    )


def _shares(written: list[torch.Tensor], read: list[torch.Tensor]) -> Float[torch.Tensor, "writer reader"]:
    """||writer reader|| of all pairs; factors [rank, d_model] and [d_model, rank] of norm 1."""
    columns = torch.cat(read, 1)
    products = (torch.cat(written) @ columns).square_()
    by_row = torch.stack([part.sum(0) for part in products.split([len(factor) for factor in written])])
    widths = [factor.shape[1] for factor in read]
    return torch.stack([part.sum(1) for part in by_row.split(widths, 1)], 1).sqrt()
