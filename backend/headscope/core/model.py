"""A language model seen as a set of heads. The one file that names TransformerLens' TransformerBridge."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from headscope.core.tokens import Tokenizer

if TYPE_CHECKING:
    import torch
    from jaxtyping import Float, Int


@dataclass(frozen=True)
class ModelInfo:
    """What identifies a model and its heads. ``revision`` is a hash of the weights; heads are query heads."""

    name: str
    revision: str
    architecture: str
    n_layers: int
    n_heads: int
    n_kv_heads: int
    d_model: int
    d_head: int
    d_vocab: int
    n_ctx: int
    n_params: int
    n_params_non_embedding: int
    dtype: str
    weight_processing: str
    tokenizer_hash: str
    bos: bool
    """Whether the tokenizer's own policy puts a beginning-of-sequence token first."""


class HeadModel(Protocol):
    """What analyses may ask of a model. Axes: batch, pos, layer, head, d_head, vocab."""

    info: ModelInfo
    tokenizer: Tokenizer
    device: torch.device
    dtype: torch.dtype

    def logits(self, tokens: Int[torch.Tensor, "batch pos"]) -> Float[torch.Tensor, "batch pos vocab"]: ...

    def logits_at(
        self, tokens: Int[torch.Tensor, "batch pos"], where: Int[torch.Tensor, "n 2"]
    ) -> Float[torch.Tensor, "n vocab"]:
        """Logits at (row, position) pairs only: the unembedding sees nothing else."""
        ...

    def gated(self, gates: Float[torch.Tensor, "*batch layer head"]) -> AbstractContextManager[None]:
        """Multiply each head's z by its gate before W_O, at every position. Gates may need gradients.

        With a leading batch axis each row of the batch has gates of its own: seeds as a batch axis.
        """
        ...

    def captured(self, layers: tuple[int, ...], names: tuple[str, ...]) -> AbstractContextManager[dict[str, torch.Tensor]]:
        """Collect ``"{layer}.z"`` [batch, pos, head, d_head] and ``"{layer}.pattern"`` [batch, head, query, key]."""
        ...


def load_model(folder: Path, *, name: str, dtype: str, device: str, attention: str = "sdpa") -> HeadModel:
    """Load a model folder (config.json, *.safetensors, tokenizer.json). See models/ for how folders come about."""
    raise NotImplementedError
