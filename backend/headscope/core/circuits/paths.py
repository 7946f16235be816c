"""Path expansion of a logit on a prompt, patterns and norm scales frozen [A Mathematical Framework, 2021].

With core.circuits.frozen's linear model, the logit in a direction u = s_final W_U[:, token] at a position is
a sum over paths: which heads a number went through, from which source (token, position, bias):

    direct      u . x[at]
    one head    u . p (A (s x W_V) + b_V)[at] W_O
    two heads   the same with the earlier head's output in place of x: the virtual head with pattern A2 A1
                and matrix W_OV1 W_OV2

Every value is exact. What no path of up to two heads explains is summed up in two more terms: ``longer``,
paths of three heads and more (the whole linear model without MLPs, minus the sum), and ``mlp``, all that went
through an MLP (the logit minus the whole linear model). Models of two layers without MLPs have neither, and
the terms add up to the logit. A bias of the unembedding counts as a direct bias.

A position looks back through one row of A only, so a pair of heads costs one product of [pos, d_head] with
[d_head]: all pairs of a model of 270 heads take a second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int

from headscope.core.circuits.frozen import SOURCES, Frozen
from headscope.core.circuits.weights import LayerWeights, Weights

NONE = -1
"""In place of a head that a path doesn't have."""


@dataclass(frozen=True)
class Terms:
    """``first`` and ``second`` head of each path as layer * heads + head, ``NONE`` where there is none; its
    ``source`` as an index of ``SOURCES``; ``values`` in logits, one column a direction.
    """

    first: Int[torch.Tensor, " term"]
    second: Int[torch.Tensor, " term"]
    source: Int[torch.Tensor, " term"]
    values: Float[torch.Tensor, "term direction"]
    longer: Float[torch.Tensor, " direction"]
    mlp: Float[torch.Tensor, " direction"]

    @property
    def total(self) -> Float[torch.Tensor, " direction"]:
        """All terms together: the logit."""
        return self.values.sum(0) + self.longer + self.mlp


def expand(
    weights: Weights,
    frozen: Frozen,
    at: int,
    tokens: Int[torch.Tensor, " direction"],
    against: int | None = None,
    checkpoint: Callable[[], None] = lambda: None,
) -> Terms:
    """The paths to the logits of ``tokens`` at position ``at``, or to their difference to ``against``'s."""
    info = weights.info
    read, bias = weights.W_U[:, tokens].T, weights.b_U[tokens]
    if against is not None:
        read, bias = read - weights.W_U[:, against], bias - weights.b_U[against]
    u = read * frozen.final_scale[at]  # [direction, d_model]
    logits = frozen.final[at] @ u.T + bias
    layers = list(weights.layers())
    bases = _bases(frozen, layers)
    n_sources, n_layers, n_heads = len(SOURCES), info.n_layers, info.n_heads
    direct = torch.einsum("km,sm->sk", u, bases[-1][:, at])
    direct[SOURCES.index("bias")] += bias
    first, second, values = [torch.full((n_sources,), NONE)], [torch.full((n_sources,), NONE)], [direct]
    mixed: list[torch.Tensor] = []  # z [head, source, pos, d_head] of each layer so far
    for number, layer in enumerate(layers):
        checkpoint()
        into = torch.einsum("hdm,km->khd", layer.W_O, u * frozen.post[number, at])
        z = _mixed(frozen, number, layer, bases[number])
        heads = torch.arange(n_heads) + number * n_heads
        values.append(torch.einsum("hsd,khd->hsk", z[:, :, at], into).flatten(0, 1))
        first.append(heads.repeat_interleave(n_sources))
        second.append(torch.full((n_heads * n_sources,), NONE))
        # what this layer's heads read, as directions of the stream, and how much of each position
        back = torch.einsum("hmd,khd->khm", layer.W_V, into)
        looked = frozen.patterns[number, :, at] * frozen.scale[number]
        for before, earlier in enumerate(layers[:number]):
            onto = torch.einsum("gdm,khm->khgd", earlier.W_O, back)
            seen = torch.einsum("hp,gspd->hgsd", looked * frozen.post[before], mixed[before])
            values.append(torch.einsum("hgsd,khgd->ghsk", seen, onto).flatten(0, 2))
            gone = torch.arange(n_heads) + before * n_heads
            first.append(gone.repeat_interleave(n_heads * n_sources))
            second.append(heads.repeat_interleave(n_sources).repeat(n_heads))
        mixed.append(z)
    found = torch.cat(values)
    linear, nothing = found.sum(0), torch.zeros_like(bias)
    longer = nothing
    if n_layers > 2:
        linear = stream_by_order(weights, frozen)[:, at].sum(0) @ u.T + bias
        longer = linear - found.sum(0)
    # without MLPs the rest is rounding: it isn't hidden in a term
    mlp = logits - linear if has_mlp(weights) else nothing
    place = torch.arange(n_sources).repeat(len(found) // n_sources)
    return Terms(torch.cat(first), torch.cat(second), place, found, longer, mlp)


def stream_by_order(
    weights: Weights, frozen: Frozen, checkpoint: Callable[[], None] = lambda: None
) -> Float[torch.Tensor, "order pos d_model"]:
    """The final stream as a sum over orders: what went through exactly 0, 1, ... n_layers heads, no MLPs.

    A layer's output bias is of order 0; a head's value bias, which only passes its W_O, of order 1.
    """
    orders = torch.zeros(
        weights.info.n_layers + 1, *frozen.final.shape, dtype=weights.dtype, device=frozen.final.device
    )
    orders[0] = frozen.sources.sum(0)
    for number, layer in enumerate(weights.layers()):
        checkpoint()
        z = _mixed(frozen, number, layer, orders[:-1], bias_in=0)
        orders[1:] += torch.einsum("hopd,hdm->opm", z, layer.W_O) * frozen.post[number][:, None]
        orders[0] += layer.b_O * frozen.post[number][:, None]
    return orders


def has_mlp(weights: Weights) -> bool:
    """Whether anything but attention writes to the stream."""
    return any("mlp" in block.submodules for block in weights.bridge.blocks)


def virtual_pattern(frozen: Frozen, first: tuple[int, int], second: tuple[int, int]) -> torch.Tensor:
    """A2 A1 [query, key]: where the virtual head looks, through the place that its second head looks at."""
    return frozen.patterns[second] @ frozen.patterns[first]


def virtual_spectrum_matrix(
    weights: Weights, first: tuple[int, int], second: tuple[int, int]
) -> Float[torch.Tensor, "d_head d_head"]:
    """What has the eigenvalues of W_E W_OV1 W_OV2 W_U: (W_O1 W_V2) (W_O2 (W_U W_E) W_V1)."""
    one, two = weights.layer(first[0]), weights.layer(second[0])
    W_V1, W_O1 = one.W_V[first[1]], one.W_O[first[1]]
    W_V2, W_O2 = two.W_V[second[1]], two.W_O[second[1]]
    return (W_O1 @ W_V2) @ (W_O2 @ weights.gram_ue @ W_V1)


def _bases(frozen: Frozen, layers: list[LayerWeights]) -> list[torch.Tensor]:
    """[source, pos, d_model] as each layer reads them, and behind the last: biases pile up."""
    bases = [frozen.sources]
    for number, layer in enumerate(layers):
        following = bases[-1].clone()
        following[SOURCES.index("bias")] += layer.b_O * frozen.post[number][:, None]
        bases.append(following)
    return bases


def _mixed(
    frozen: Frozen,
    number: int,
    layer: LayerWeights,
    streams: Float[torch.Tensor, "stream pos d_model"],
    bias_in: int = SOURCES.index("bias"),
) -> Float[torch.Tensor, "head stream pos d_head"]:
    """z of each stream by itself; the value bias goes with stream ``bias_in``."""
    read = streams * frozen.scale[number][:, None]
    values = torch.einsum("spm,hmd->hspd", read, layer.W_V)
    z = torch.einsum("hqk,hskd->hsqd", frozen.patterns[number], values)
    # a row sums to 1, or to less where a sink takes the rest (gpt-oss)
    z[:, bias_in] += frozen.patterns[number].sum(-1)[..., None] * layer.b_V[:, None]
    return z
