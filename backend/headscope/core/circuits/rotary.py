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


def rotation(weights: Weights, delta: int) -> Float[torch.Tensor, "d_head d_head"] | None:
    """R_delta for a query ``delta`` tokens after its key; None where an architecture doesn't show it.

    Orthogonal: the factor by which YaRN scales all scores is left out.
    """
    module = getattr(weights.model, "module", None)
    if module is None or weights.bridge.cfg.positional_embedding_type != "rotary":
        return None
    embeddings = [part for part in module.modules() if type(part).__name__.endswith("RotaryEmbedding")]
    turn = _rotate(embeddings)
    if turn is None:
        return None
    eye = torch.eye(weights.info.d_head, device=weights.model.device)
    positions = torch.tensor([[delta]], device=eye.device)
    with torch.no_grad():
        cos, sin = embeddings[0](eye[None], positions)
        width = cos.shape[-1]
        turned, _ = turn(eye[None, :, None, :width], eye[None, :, None, :width], cos, sin)
    whole = eye.clone()
    whole[:, :width] = turned[0, :, 0]
    orthogonal: torch.Tensor = whole / whole.norm(dim=1, keepdim=True)
    return orthogonal.to(weights.dtype)


def _rotate(embeddings: list[Any]) -> Any:
    """The architecture's rotation of queries and keys, where it has the usual form and one for all layers."""
    if len(embeddings) != 1 or "layer_type" in inspect.signature(embeddings[0].forward).parameters:
        return None
    turn = getattr(sys.modules[type(embeddings[0]).__module__], "apply_rotary_pos_emb", None)
    if turn is None or list(inspect.signature(turn).parameters)[:4] != ["q", "k", "cos", "sin"]:
        return None
    return turn
