"""Models whose heads' roles are known, because every weight is set by hand.

The task is induction on random tokens: a start token, then A B C ... A B C ... The residual stream has parts:
the token, its position, the token before it, and the logits (with an MLP also the answer on its way there).
There is no normalisation and no bias, so that what each head adds can be worked out on paper. Token 0 never
occurs, but the embedding favours it as an answer.

    kind        what it does                                                       role
    previous    writes the token before into its part                              needed
    induction   looks for its own token among the tokens before, writes what       needed
                it finds there: to the logits, or to the MLP that passes it on
    copier      copies the present token to the logits, always wrong               harmful
    against     looks where the induction head looks, and writes against it        harmful
    spare       writes against token 0; there are two, and either is enough        redundant
    nothing     has no query and no output                                         useless

Heads of a group share keys (positions in layer 0, tokens before in later layers) and values (tokens).
Noise is random weights added to every matrix. The two spare heads get the same noise: with noise of their own
one of them is the better by a little, and Adam, whose steps don't depend on a gradient's size, finds it in
every seed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Final, Literal

import torch
from jaxtyping import Float
from torch import Tensor

Head = tuple[int, int]
Kind = Literal["previous", "induction", "copier", "against", "spare", "nothing"]
Role = Literal["needed", "harmful", "redundant", "useless"]

ROLES: Final[tuple[Role, ...]] = ("needed", "harmful", "redundant", "useless")
ROLE_OF: Final[Mapping[Kind, Role]] = {
    "previous": "needed",
    "induction": "needed",
    "copier": "harmful",
    "against": "harmful",
    "spare": "redundant",
    "nothing": "useless",
}

COPY: Final = 6
"""Tokens that are repeated in an example, unless told otherwise."""

# The stream holds logits in tens, so that noise meets parts of like length.
_READ = 10.0
_INDUCED, _PRESENT, _AGAINST_ANSWER = 0.6, 0.8, 0.8  # logits that heads write
_LOOK = 30.0  # attention score of a position that is looked for


@dataclass(frozen=True)
class Plan:
    """Which head does what, in a model of this shape. ``groups`` is the number of key-value heads a layer."""

    n_layers: int
    n_heads: int
    groups: int
    vocab: int
    d_model: int
    kinds: Mapping[Head, Kind]
    mlp: bool = False
    n_ctx: int = 16
    match: float = 5.0
    """Attention score of a token that is looked for: so soft that half a previous-token head isn't enough."""
    favoured: float = 0.8
    spared: float = 1.4
    """Token 0's logit by the embedding and what a spare head takes from it, in tens."""

    @property
    def d_head(self) -> int:
        """Wide enough for a token or a position."""
        return max(self.vocab, self.n_ctx)

    @property
    def start(self) -> int:
        """The token that every example starts with."""
        return self.vocab - 1

    def group(self, head: int) -> int:
        """Whose keys and values a layer's head reads."""
        return head * self.groups // self.n_heads

    def kind(self, head: Head) -> Kind:
        """What a head does; nothing unless planted."""
        return self.kinds.get(head, "nothing")

    def heads(self, role: Role) -> tuple[Head, ...]:
        """The heads that play a role, in order."""
        every = [(layer, head) for layer in range(self.n_layers) for head in range(self.n_heads)]
        return tuple(head for head in every if ROLE_OF[self.kind(head)] == role)


@dataclass(frozen=True)
class Weights:
    """All of a model's weights, row vectors, float64; the MLP's are None where there is none."""

    W_E: Float[Tensor, "vocab d_model"]
    W_pos: Float[Tensor, "pos d_model"]
    W_Q: Float[Tensor, "layer head d_model d_head"]
    W_K: Float[Tensor, "layer group d_model d_head"]
    W_V: Float[Tensor, "layer group d_model d_head"]
    W_O: Float[Tensor, "layer head d_head d_model"]
    W_U: Float[Tensor, "d_model vocab"]
    W_in: Float[Tensor, "layer d_model neuron"] | None = None
    W_out: Float[Tensor, "layer neuron d_model"] | None = None


def build(plan: Plan, noise: float = 0.0, seed: int = 0) -> Weights:
    """The weights of a plan. Noise has standard deviation noise / sqrt(inputs), so that what comes in at
    length 1 meets ``noise`` more in each output; embeddings get rows of length ``noise``.
    """
    planted = _planted(plan)
    return _with_noise(planted, plan, noise, seed) if noise else planted


def _with_noise(weights: Weights, plan: Plan, noise: float, seed: int) -> Weights:
    source = torch.Generator().manual_seed(seed)
    drawn = {}
    for field in fields(weights):
        matrix = getattr(weights, field.name)
        if matrix is not None:
            inputs = matrix.shape[-1 if field.name in ("W_E", "W_pos") else -2]
            normal = torch.randn(matrix.shape, generator=source, dtype=torch.float64)
            drawn[field.name] = normal * noise / math.sqrt(inputs)
    (layer, head), (twin_layer, twin) = plan.heads("redundant")
    for name in ("W_Q", "W_O"):
        drawn[name][twin_layer, twin] = drawn[name][layer, head]
    for name in ("W_K", "W_V"):
        drawn[name][twin_layer, plan.group(twin)] = drawn[name][layer, plan.group(head)]
    return replace(weights, **{name: getattr(weights, name) + more for name, more in drawn.items()})


def _planted(plan: Plan) -> Weights:
    token, position, before, logits, answer = _parts(plan)
    layers, heads, d_model, d_head = plan.n_layers, plan.n_heads, plan.d_model, plan.d_head
    tokens, positions = _eye(plan.vocab, d_head), _eye(plan.n_ctx, d_head)
    W_E, W_pos, W_U = _zeros(plan.vocab, d_model), _zeros(plan.n_ctx, d_model), _zeros(d_model, plan.vocab)
    W_Q, W_O = _zeros(layers, heads, d_model, d_head), _zeros(layers, heads, d_head, d_model)
    W_K, W_V = (_zeros(layers, plan.groups, d_model, d_head) for _ in range(2))
    W_E[:, token], W_E[:, logits.start] = _eye(plan.vocab, plan.vocab), plan.favoured
    W_pos[:, position] = _eye(plan.n_ctx, plan.n_ctx)
    W_U[logits] = _READ * _eye(plan.vocab, plan.vocab)
    root = math.sqrt(d_head)
    for (layer, head), kind in plan.kinds.items():
        group = plan.group(head)
        if kind != "nothing":
            W_V[layer, group, token] = tokens
            W_K[layer, group, before if layer else position] = tokens if layer else positions
        match kind:
            case "previous":
                # The first position asks for the last, which is never there.
                W_Q[layer, head, position] = _LOOK * root * positions.roll(1, dims=0)
                W_O[layer, head, :, before] = tokens.T
            case "copier":
                W_Q[layer, head, position] = _LOOK * root * positions
                W_O[layer, head, :, logits] = _PRESENT * tokens.T
            case "induction":
                W_Q[layer, head, token] = plan.match * root * tokens
                W_O[layer, head, :, answer if plan.mlp else logits] = (1 if plan.mlp else _INDUCED) * tokens.T
            case "against":
                W_Q[layer, head, token] = plan.match * root * tokens
                W_O[layer, head, :, logits] = -_AGAINST_ANSWER * tokens.T
            case "spare":
                W_O[layer, head, :, logits.start] = -plan.spared
    weights = Weights(W_E, W_pos, W_Q, W_K, W_V, W_O, W_U)
    return _with_mlp(weights, plan, answer, logits) if plan.mlp else weights


def _with_mlp(weights: Weights, plan: Plan, answer: slice, logits: slice) -> Weights:
    """A neuron a token, in the induction head's layer, takes its answer to the logits."""
    layer = next(layer for (layer, _), kind in plan.kinds.items() if kind == "induction")
    W_in = _zeros(plan.n_layers, plan.d_model, plan.vocab)
    W_out = _zeros(plan.n_layers, plan.vocab, plan.d_model)
    W_in[layer, answer] = _eye(plan.vocab, plan.vocab)
    W_out[layer, :, logits] = _INDUCED * _eye(plan.vocab, plan.vocab)
    return replace(weights, W_in=W_in, W_out=W_out)


def _parts(plan: Plan) -> tuple[slice, slice, slice, slice, slice]:
    """Where in the stream token, position, token before, logits and answer are."""
    ends = [0]
    for width in (plan.vocab, plan.n_ctx, plan.vocab, plan.vocab, plan.vocab if plan.mlp else 0):
        ends.append(ends[-1] + width)
    token, position, before, logits, answer = (slice(*pair) for pair in itertools.pairwise(ends))
    return token, position, before, logits, answer


def _eye(rows: int, columns: int) -> Tensor:
    return torch.eye(rows, columns, dtype=torch.float64)


def _zeros(*shape: int) -> Tensor:
    return torch.zeros(*shape, dtype=torch.float64)
