"""Rotary positions as matrices: the QK circuit at a fixed distance.

A rotary model turns queries and keys by their positions, q R_i and k R_j with row vectors, so the score of a
query at i and a key at j is x W_Q R_i R_j^T W_K^T y^T, and R_i R_j^T = R_delta depends on delta = i - j only.
The circuit at distance delta is W_E W_Q R_delta W_K^T W_E^T; position-free is delta 0: R is the identity.

R_delta is read off the architecture's own rotation of the identity matrix, so that interleaved pairs, halves,
partial rotation and scaled frequencies need no case of their own.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any

import torch
from jaxtyping import Float

from headscope.core.circuits.weights import Weights
from headscope.core.model.norms import original


def rotations(weights: Weights, delta: int) -> Float[torch.Tensor, "layer d_head d_head"] | None:
    """R_delta of each layer, for a query ``delta`` tokens after its key; None where an architecture doesn't
    show it. Layers differ where those with a window turn faster than those without (Gemma 3).

    Orthogonal: the factor by which YaRN scales all scores is left out.
    """
    module = getattr(weights.model, "module", None)
    if module is None or weights.bridge.cfg.positional_embedding_type != "rotary":
        return None
    embeddings = [part for part in module.modules() if type(part).__name__.endswith("RotaryEmbedding")]
    turn = _turn(embeddings)
    kinds = _kinds(weights, embeddings)
    if turn is None or kinds is None:
        return None
    of_kind = {kind: _rotation(weights, embeddings[0], turn, delta, kind) for kind in set(kinds)}
    return torch.stack([of_kind[kind] for kind in kinds])


def _rotation(weights: Weights, embedding: Any, turn: Any, delta: int, kind: str | None) -> torch.Tensor:
    eye = torch.eye(weights.info.d_head, device=weights.model.device)
    positions = torch.tensor([[delta]], device=eye.device)
    of_kind = {} if kind is None else {"layer_type": kind}
    with torch.no_grad():
        cos, sin = embedding(eye[None], positions, **of_kind)
        width = cos.shape[-1]
        turned, _ = turn(eye[None, :, None, :width], eye[None, :, None, :width], cos, sin)
    whole = eye.clone()
    whole[:, :width] = turned[0, :, 0]
    orthogonal: torch.Tensor = whole / whole.norm(dim=1, keepdim=True)
    return orthogonal.to(weights.dtype)


def _turn(embeddings: list[Any]) -> Any:
    """The architecture's rotation of queries and keys, where it has the usual form and one embedding."""
    if len(embeddings) != 1:
        return None
    turn = getattr(sys.modules[type(embeddings[0]).__module__], "apply_rotary_pos_emb", None)
    if turn is None or list(inspect.signature(turn).parameters)[:4] != ["q", "k", "cos", "sin"]:
        return None
    return turn


def _kinds(weights: Weights, embeddings: list[Any]) -> list[str | None] | None:
    """By which of the embedding's kinds each layer turns, None where it has one kind only; None for the whole
    where layers don't say.
    """
    layers = weights.info.n_layers
    if "layer_type" not in inspect.signature(embeddings[0].forward).parameters:
        return [None] * layers
    found = [getattr(original(weights.bridge.blocks[i].attn), "layer_type", None) for i in range(layers)]
    known = getattr(embeddings[0], "layer_types", ())
    return found if all(kind in known for kind in found) else None
