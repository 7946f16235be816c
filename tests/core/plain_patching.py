"""Mediation the plain way: one head per full forward pass of the architecture's own module, in float64.

No suffix, no kept keys, no rows: a hook by hand before one layer's W_O.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from headscope.core.model.bridge import BridgedModel
from headscope.core.model.info import ModelInfo
from headscope.core.model.load import load_model


@contextmanager
def put_at(
    writer: nn.Module, info: ModelInfo, head: int, positions: Sequence[int], z: Tensor
) -> Iterator[None]:
    """One head's z [pos, d_head] at these positions of the passes within, all rows alike."""

    def put(_: Any, args: Any) -> Any:
        changed = args[0].clone()
        heads = changed.view(*changed.shape[:2], info.n_heads, info.d_head)
        for position, value in zip(positions, z, strict=True):
            heads[:, position, head] = value
        return (changed,)

    hook = writer.register_forward_pre_hook(put)
    try:
        yield
    finally:
        hook.remove()


class Plain:
    """A folder's model in float64."""

    def __init__(self, folder: Path) -> None:
        loaded = load_model(folder, name="plain", dtype="float64", device="cpu")
        assert isinstance(loaded, BridgedModel)
        self.module, self.writers, self.info = loaded.module, loaded.parts.projections, loaded.info

    @torch.no_grad()
    def logits(self, ids: Sequence[int]) -> Tensor:
        """[pos, vocab]."""
        out: Any = self.module(input_ids=torch.tensor([list(ids)]), use_cache=False)
        return (out if isinstance(out, Tensor) else out.logits)[0].double()

    def z(self, ids: Sequence[int]) -> Tensor:
        """[layer, pos, head, d_head]."""
        found: list[Tensor] = []
        hooks = [
            writer.register_forward_pre_hook(lambda _, args: found.append(args[0][0].clone()))
            for writer in self.writers
        ]
        self.logits(ids)
        for hook in hooks:
            hook.remove()
        return torch.stack(found).view(len(found), len(ids), self.info.n_heads, self.info.d_head)

    def patched(
        self, ids: Sequence[int], layer: int, head: int, positions: Sequence[int], z: Tensor
    ) -> Tensor:
        """The last token's logits with z [pos, d_head] of one head at these positions."""
        with put_at(self.writers[layer], self.info, head, positions, z):
            return self.logits(ids)[-1]

    def heads(self) -> list[tuple[int, int]]:
        """All of them."""
        return [(layer, head) for layer in range(self.info.n_layers) for head in range(self.info.n_heads)]
