"""What a model predicts at a batch's target positions, each row under gates of its own."""

from __future__ import annotations

import torch
from jaxtyping import Float

from headscope.core.model.batches import MicroBatch
from headscope.core.model.head_model import HeadModel
from headscope.core.model.replacement import Replacement


def target_nll(
    model: HeadModel,
    batch: MicroBatch,
    gates: Float[torch.Tensor, "seed layer head"] | None,
    replacement: Replacement | None = None,
) -> Float[torch.Tensor, " target"]:
    """NLL of each target token, nats, in float32 or better; each row under its owner's gates."""
    predicted = target_logits(model, batch, gates, replacement)
    return torch.nn.functional.cross_entropy(predicted, batch.answers.to(model.device), reduction="none")


def target_logits(
    model: HeadModel,
    batch: MicroBatch,
    gates: Float[torch.Tensor, "seed layer head"] | None,
    replacement: Replacement | None = None,
) -> Float[torch.Tensor, "target vocab"]:
    """What the model predicts at each target position, in float32 or better; rows under their own gates, and
    where these close, ``replacement`` (zero without one).
    """
    tokens, where = batch.tokens.to(model.device), batch.where.to(model.device)
    if batch.packing is not None:
        placed = None if gates is None else gates.to(model.dtype)
        predicted = model.target_logits(batch.packing.to(model.device), placed, replacement)
    elif gates is None:
        predicted = model.logits_at(tokens, where)
    else:
        with model.gated(gates[batch.owners.to(model.device)].to(model.dtype), replacement):
            predicted = model.logits_at(tokens, where)
    return predicted if predicted.dtype == torch.float64 else predicted.float()
