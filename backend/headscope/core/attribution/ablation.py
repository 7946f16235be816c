"""One head gated off on a prompt, with every attention pattern held as it was and with later heads free."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float

from headscope.core.model.head_model import HeadModel
from headscope.errors import Invalid

AS_IS, FROZEN, FREE = range(3)
"""Rows of what ``ablate_head`` returns."""


@torch.no_grad()
def ablate_head(
    model: HeadModel, ids: Sequence[int], layer: int, head: int
) -> Float[torch.Tensor, "condition pos"]:
    """Nats of each token, NaN for the first: as it is, head off with patterns held, head off.

    Held patterns show what the head's own output is worth: nobody looks elsewhere for its lack [Olsson et al.
    2022]. All three are rows of one pass, in which the second attends as the first does. Raises Invalid where
    there is no such head, and beyond the context.
    """
    info = model.info
    if not (0 <= layer < info.n_layers and 0 <= head < info.n_heads):
        raise Invalid(
            f"There is no head {layer}.{head} in {info.name}.",
            f"Layers run 0-{info.n_layers - 1}, heads 0-{info.n_heads - 1}.",
            code="no-head",
        )
    gates = torch.ones(3, info.n_layers, info.n_heads, device=model.device)
    gates[[FROZEN, FREE], layer, head] = 0
    tokens = torch.tensor([list(ids)] * 3, device=model.device)
    with model.gated(gates), model.sharing([AS_IS, AS_IS, FREE]):
        return model.losses(tokens).cpu()
