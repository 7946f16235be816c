"""The pass through the bridge, step by step, with all that circuits stand on, and the weights they read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float, Int

from headscope.core.circuits.bridged_pass import bridged_pass
from headscope.core.circuits.weights import LayerWeights, Weights, read_weights
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.norms import norm_scale


class Stepwise:
    """One pass over one row [1, pos]: ``logits``, and by name what passed the bridge's hook points."""

    def __init__(self, model: BridgedModel, tokens: Int[torch.Tensor, "1 pos"]) -> None:
        self.model = model
        wide = torch.float64 if model.dtype == torch.float64 else torch.float32
        self.folded: Weights = read_weights(model, "folded", wide)
        self.raw: Weights = read_weights(model, "raw", wide)
        self.bridge = self.folded.bridge
        self.logits, self._seen = bridged_pass(self.bridge, tokens, self._points())

    def pattern(self, layer: int) -> Float[torch.Tensor, "1 head query key"]:
        """A layer's pattern."""
        return self._seen[f"pattern {layer}"]

    def projected(self, layer: int, name: str) -> Float[torch.Tensor, "pos group d_head"]:
        """What comes out of a layer's query (``q``) or key (``k``) projection."""
        out = self._seen[f"{name} {layer}"][0].flatten(1)
        return self._wide(out.unflatten(-1, (-1, self.model.info.d_head)))

    @cached_property
    def layers(self) -> list[tuple[LayerWeights, Float[torch.Tensor, "pos d_model"]]]:
        """Each layer's folded weights and the stream that they read, at the scale of its norm."""
        return list(self._layers())

    @property
    def first(self) -> Float[torch.Tensor, "pos d_model"]:
        """The stream that goes into the first layer."""
        return self._wide(self._seen["first"][0])

    @property
    def last(self) -> Float[torch.Tensor, "pos d_model"]:
        """The stream before the unembedding, at the scale of the final norm."""
        stream = self._wide(self._seen["last"][0])
        return stream * norm_scale(self.bridge.ln_final, stream)[:, None]

    def _layers(self) -> Iterator[tuple[LayerWeights, torch.Tensor]]:
        for layer, block in enumerate(self.bridge.blocks):
            stream = self._wide(self._seen[f"into {layer}"][0])
            if "ln1" in block.submodules:
                stream = stream * norm_scale(block.ln1, stream)[:, None]
            yield self.folded.layer(layer), stream

    def _points(self) -> dict[str, Any]:
        points: dict[str, Any] = {
            "first": self.bridge.blocks[0].hook_in,
            "last": self.bridge.ln_final.hook_in,
        }
        for layer, block in enumerate(self.bridge.blocks):
            points[f"into {layer}"] = block.ln1.hook_in if "ln1" in block.submodules else block.hook_in
            points |= {f"{name} {layer}": getattr(block.attn, f"hook_{name}") for name in ("q", "k")}
            points[f"pattern {layer}"] = block.attn.hook_pattern
        return points

    def _wide(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.to(self.folded.dtype)
