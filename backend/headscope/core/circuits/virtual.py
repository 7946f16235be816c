"""Virtual weights: what one component of the residual stream reads of what another one writes.

The stream is a sum, so a later component reads every earlier one through one product of matrices
[A Mathematical Framework for Transformer Circuits, 2021, "Virtual weights"]. In factors, row vectors:

    writer = P B    embed  W_E      position  W_pos     head  W_V W_O       mlp  W_out
    reader = A Q^T  unembed  W_U    mlp  W_in           head  q  W_Q W_K^T    k  W_K W_Q^T    v  W_V W_O
    M = P (B A) Q^T

with identities where a component is one matrix. So a head is read as in composition, ||M|| over the norms of
its two halves. Its singular values are those of L_P^T (B A) L_Q, where P^T P = L_P L_P^T and so for Q, and
from U S W^T of that small matrix come the directions on both sides, without an inverse:

    left = P (B A) L_Q W / S        right = Q (B A)^T L_P U / S

A side is read in tokens: embed and unembed *are* tokens; what a head reads is a direction of the stream,
which each token's embedding meets by W_E direction; what it writes raises the logits by direction W_U.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float

from headscope.core.circuits.composition import root
from headscope.core.circuits.weights import Weights
from headscope.errors import Invalid

Side = Literal["tokens", "positions", "neurons", "reads", "writes"]
"""What one end of M is: tokens, positions, neurons, or a direction of the stream that is read or written."""

_NAME = re.compile(r"(?:(embed|position|unembed)|mlp (\d{1,4})|(\d{1,4})\.(\d{1,4})(?: ([qkv]))?)")


@dataclass(frozen=True)
class Component:
    """One end of a virtual weight: ``inner`` None is the identity. ``order`` is its place in the stream."""

    name: str
    outer: Float[torch.Tensor, "n rank"]
    inner: Float[torch.Tensor, "rank d_model"] | None
    side: Side
    order: float


@dataclass(frozen=True)
class Virtual:
    """``share`` = ||M|| / (||writer|| ||reader||) in [0, 1]; directions are columns, the largest first."""

    writer: Component
    reader: Component
    norm: float
    share: float
    values: Float[torch.Tensor, " top"]
    left: Float[torch.Tensor, "n top"]
    right: Float[torch.Tensor, "m top"]


def writer(weights: Weights, name: str) -> Component:
    """``embed``, ``position``, ``3.5`` (a head) or ``mlp 3``. Raises Invalid for anything else."""
    special, mlp, layer, head, kind = _parts(name, "a writer: embed, position, 3.5 or mlp 3")
    if special == "embed":
        return Component(name, weights.W_E[: weights.n_tokens], None, "tokens", -1)
    if special == "position":
        if weights.W_pos is None:
            raise Invalid(
                f"{weights.info.name} adds no positions to its tokens.",
                "Choose embed, a head or an MLP.",
                code="no-component",
            )
        return Component(name, weights.W_pos, None, "positions", -1)
    if mlp is not None:
        return Component(name, _mlp(weights, int(mlp))[1], None, "neurons", 2 * int(mlp) + 1)
    if layer is None or kind is not None:
        raise _unknown(name, "a writer: embed, position, 3.5 or mlp 3")
    W_V, W_O = _head(weights, int(layer), int(head or 0), "v")
    return Component(name, W_V, W_O.T, "reads", 2 * int(layer))


def reader(weights: Weights, name: str) -> Component:
    """``unembed``, ``mlp 3``, or a head's ``3.5 q``, ``3.5 k``, ``3.5 v``. Raises Invalid for another."""
    words = "a reader: unembed, mlp 3, 3.5 q, 3.5 k or 3.5 v"
    special, mlp, layer, head, kind = _parts(name, words)
    if special == "unembed":
        W_U = weights.W_U[:, : weights.n_tokens]
        return Component(name, W_U.T, None, "tokens", 2 * weights.info.n_layers)
    if mlp is not None:
        return Component(name, _mlp(weights, int(mlp))[0].T, None, "neurons", 2 * int(mlp) + 1)
    if layer is None or kind is None:
        raise _unknown(name, words)
    side: Side = "writes" if kind == "v" else "reads"
    read, far = _head(weights, int(layer), int(head or 0), kind)
    return Component(name, far, read.T, side, 2 * int(layer))


def virtual(one: Component, two: Component, top: int = 8) -> Virtual:
    """M's norm, singular values and directions. Raises Invalid where ``two`` doesn't come after ``one``."""
    if two.order <= one.order:
        raise Invalid(
            f"{two.name} doesn't read what {one.name} writes: it doesn't come after it.",
            "Choose a reader in a later layer, or an MLP behind the same layer's heads.",
            code="not-later",
        )
    middle = _product(one.inner, None if two.inner is None else two.inner.T, one.outer)
    root_left, root_right = root(one.outer.T @ one.outer), root(two.outer.T @ two.outer)
    core = root_left.T @ middle @ root_right
    U, S, Vh = torch.linalg.svd(core, full_matrices=False)
    k = min(top, int((1e-7 * S[0] < S).sum())) if float(S[0]) > 0 else 0
    norms = _norm(root_left, one.inner) * _norm(root_right, two.inner)
    return Virtual(
        one,
        two,
        float(core.norm()),
        float(core.norm()) / norms if norms > 0 else float("nan"),
        S[:k],
        one.outer @ (middle @ root_right @ Vh.T[:, :k]) / S[:k],
        two.outer @ (middle.T @ root_left @ U[:, :k]) / S[:k],
    )


def in_tokens(
    weights: Weights, side: Side, direction: Float[torch.Tensor, " n"]
) -> Float[torch.Tensor, " token"] | None:
    """One direction as a number for each token; None where the side is positions or neurons."""
    if side == "tokens":
        return direction
    if side == "reads":
        return weights.W_E[: weights.n_tokens] @ direction
    if side == "writes":
        return direction @ weights.W_U[:, : weights.n_tokens]
    return None


def _product(
    inner: torch.Tensor | None, read: torch.Tensor | None, like: torch.Tensor
) -> Float[torch.Tensor, "one two"]:
    """B A, with identities for what isn't there."""
    if inner is not None and read is not None:
        return inner @ read
    if inner is not None:
        return inner
    if read is not None:
        return read
    return torch.eye(like.shape[1], dtype=like.dtype, device=like.device)


def _norm(rooted: torch.Tensor, inner: torch.Tensor | None) -> float:
    return float((rooted if inner is None else rooted.T @ inner).norm())


def _head(weights: Weights, layer: int, head: int, kind: str) -> tuple[torch.Tensor, torch.Tensor]:
    """What reads the stream and what stands behind it, both [d_model, d_head]."""
    part = weights.layer(layer)
    if head >= weights.info.n_heads:
        raise Invalid(
            f"Head {head} of {weights.info.n_heads}.",
            f"Heads run 0-{weights.info.n_heads - 1}.",
            code="no-head",
        )
    if kind == "q":
        return part.W_Q[head], part.W_K[head]
    if kind == "k":
        return part.W_K[head], part.W_Q[head]
    return part.W_V[head], part.W_O[head].T


def _mlp(weights: Weights, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
    part = weights.mlp(layer)
    if part is None:
        raise Invalid(
            f"Layer {layer} of {weights.info.name} has no MLP with one matrix in and one out.",
            "Choose a head, embed or unembed.",
            code="no-component",
        )
    return part.W_in, part.W_out


def _parts(name: str, words: str) -> tuple[str | None, ...]:
    found = _NAME.fullmatch(name.strip())
    if found is None:
        raise _unknown(name, words)
    return found.groups()


def _unknown(name: str, words: str) -> Invalid:
    return Invalid(f"{name[:40]!r} isn't {words}.", "Write it like one of these.", code="no-component")
