"""A plain pass with the streams that circuits' weights read, and those weights."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import cast

import torch
from jaxtyping import Float, Int
from torch import nn

from headscope.core.circuits.weights import LayerWeights, Weights, read_weights
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.hooks import reading_input
from headscope.core.model.norms import norm_scale


class WeightsPass:
    """One row [1, pos] through the model: what goes into its first layer, into each layer's attention before
    its norm, and into the last norm.
    """

    def __init__(self, model: BridgedModel, tokens: Int[torch.Tensor, "1 pos"]) -> None:
        wide = torch.float64 if model.dtype == torch.float64 else torch.float32
        self.model = model
        self.folded: Weights = read_weights(model, "folded", wide)
        self.raw: Weights = read_weights(model, "raw", wide)
        parts, self._seen = model.parts, dict[nn.Module, torch.Tensor]()
        self._final_norm = cast("nn.Module", parts.final_norm)  # read_weights has refused to do without
        with ExitStack() as hooks:
            for module in (*parts.blocks, *parts.entry_norms, self._final_norm):
                if module is not None:
                    hooks.enter_context(reading_input(module, self._keeping(module)))
            model.logits(tokens)

    @property
    def first(self) -> Float[torch.Tensor, "pos d_model"]:
        """The stream that goes into the first layer."""
        return self._seen[self.model.parts.blocks[0]]

    @property
    def last(self) -> Float[torch.Tensor, "pos d_model"]:
        """The stream before the unembedding, at the scale of the final norm."""
        return self._scaled(self._final_norm)

    def layer(self, layer: int) -> tuple[LayerWeights, Float[torch.Tensor, "pos d_model"]]:
        """A layer's folded weights and the stream that they read, at the scale of its norm."""
        norm, block = self.model.parts.entry_norms[layer], self.model.parts.blocks[layer]
        return self.folded.layer(layer), self._seen[block] if norm is None else self._scaled(norm)

    def _scaled(self, norm: nn.Module) -> torch.Tensor:
        return self._seen[norm] * norm_scale(norm, self._seen[norm])[:, None]

    def _keeping(self, module: nn.Module) -> Callable[[torch.Tensor], None]:
        return lambda stream: self._seen.update({module: stream[0].to(self.folded.dtype, copy=True)})
