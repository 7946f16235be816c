"""A model's weights head by head, as circuits read them: row vectors, float32 or float64, raw or folded.

A stream row x [d_model] is read by x W and written by z W_O, so W_Q, W_K, W_V are [d_model, d_head], W_O is
[d_head, d_model], W_E [vocab, d_model], W_U [d_model, vocab] [A Mathematical Framework, 2021]. With grouped
queries a head's W_K and W_V are its group's.

``raw``: the matrices as the model stores them. ``folded``: what a component really reads. Norms stand
between the stream and its readers: norm(x) = s(x) (x - m(x)) * w + b, where s is a scale that depends on x, m
the mean (LayerNorm) or 0 (RMSNorm), w and b weights. All but s is linear, so it moves into the reader:

    W' = C diag(w) W        C = I - 1/d_model for LayerNorm, I for RMSNorm
    b' = b W + (the reader's own bias)

and where a norm follows attention (post-norm), its weight moves into W_O. s stays outside: circuits from
weights are meant up to it. core/model/norms.py measures C, w and b.

The embedding includes the factor that a model multiplies it by (Gemma), measured too; W_O and an MLP's output
include the one that they join the stream by (Granite).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Literal

import torch
from jaxtyping import Float, Int

from headscope.core.circuits.weight_limits import limits
from headscope.core.model.head_model import HeadModel
from headscope.core.model.hooks import reading_input
from headscope.core.model.info import ModelInfo
from headscope.core.model.norms import Fold, measure_norm, original
from headscope.errors import Invalid, Refused

Processing = Literal["raw", "folded"]

Tokens = slice | Int[torch.Tensor, " n"]
"""Which of the vocabulary."""

ALL: Final = slice(None)

APPLICABLE = "Causal head gating and the prompt lab's analyses read no weights and still apply."


@dataclass(frozen=True)
class LayerWeights:
    """One layer's heads. Biases are zero where the model has none; K and V are those of the head's group."""

    W_Q: Float[torch.Tensor, "head d_model d_head"]
    W_K: Float[torch.Tensor, "head d_model d_head"]
    W_V: Float[torch.Tensor, "head d_model d_head"]
    W_O: Float[torch.Tensor, "head d_head d_model"]
    b_Q: Float[torch.Tensor, "head d_head"]
    b_K: Float[torch.Tensor, "head d_head"]
    b_V: Float[torch.Tensor, "head d_head"]
    b_O: Float[torch.Tensor, " d_model"]


@dataclass(frozen=True)
class MlpWeights:
    """One layer's MLP: ``W_in`` reads the stream (not the gate of a gated one), ``W_out`` writes to it."""

    W_in: Float[torch.Tensor, "d_model neuron"]
    W_out: Float[torch.Tensor, "neuron d_model"]


class Weights:
    """All weights of a model. Layers are made when asked for and not kept: a caller holds what it needs.

    ``limits`` says in plain sentences what the numbers leave out.
    """

    def __init__(self, model: HeadModel, processing: Processing, dtype: torch.dtype) -> None:
        self.model = model
        self.info: ModelInfo = model.info
        self.processing = processing
        self.dtype = dtype
        self.bridge = _bridge(model)
        self.limits = limits(self.bridge)

    @cached_property
    def W_E(self) -> Float[torch.Tensor, "vocab d_model"]:
        """The token embedding, with the model's own factor."""
        table = self._wide(self.bridge.W_E)
        factor = self._embedding_factor
        return table if factor == 1 else table * factor

    @cached_property
    def W_pos(self) -> Float[torch.Tensor, "pos d_model"] | None:
        """Learned positions, added to the embedding; None where the model has none."""
        if not hasattr(self.bridge, "pos_embed") or not isinstance(
            getattr(self.bridge, "W_pos", None), torch.Tensor
        ):
            return None
        table = self._wide(self.bridge.W_pos)
        return table[len(table) - self.info.n_ctx :]  # OPT keeps two rows that no position uses

    @cached_property
    def W_U(self) -> Float[torch.Tensor, "d_model vocab"]:
        """The unembedding, folded where processing says so."""
        return self.readers()

    @cached_property
    def b_U(self) -> Float[torch.Tensor, " vocab"]:
        """The logits' bias: the unembedding's own and, folded, the final norm's."""
        return self.reader_biases()

    def embedded(self, tokens: Int[torch.Tensor, " n"]) -> Float[torch.Tensor, "n d_model"]:
        """Rows of W_E, without the others."""
        return self._wide(self.bridge.W_E[tokens]) * self._embedding_factor

    def readers(self, tokens: Tokens = ALL) -> Float[torch.Tensor, "d_model n"]:
        """Columns of W_U, without the others."""
        raw = self._wide(self.bridge.W_U[:, tokens])
        return raw if self.final is None else self.final.reader(raw)

    def reader_biases(self, tokens: Tokens = ALL) -> Float[torch.Tensor, " n"]:
        """What b_U has at these tokens."""
        own, raw = getattr(self.bridge, "b_U", None), self.bridge.W_U[:, tokens]
        bias = self._wide(own[tokens]) if own is not None else self._zeros(raw.shape[1])
        return bias if self.final is None else bias + self.final.shift @ self._wide(raw)

    @cached_property
    def gram_ue(self) -> Float[torch.Tensor, "d_model d_model"]:
        """W_U W_E, formed once: every OV spectrum comes from it."""
        if not self._tied:
            return self.W_U @ self.W_E
        raw = self.gram_ee / self._embedding_factor
        return raw if self.final is None else self.final.reader(raw)

    @cached_property
    def gram_ee(self) -> Float[torch.Tensor, "d_model d_model"]:
        """W_E^T W_E, formed once: every QK spectrum comes from it."""
        return self.W_E.T @ self.W_E

    @cached_property
    def final(self) -> Fold | None:
        """The final norm where folded, else None."""
        return self._fold(self.bridge.ln_final) if self.processing == "folded" else None

    def layer(self, layer: int) -> LayerWeights:
        """One layer's heads, [head, ...]. Raises Invalid for a layer there isn't."""
        block = self._block(layer)
        attention = block.attn
        heads = {name: self._heads(attention, name) for name in ("Q", "K", "V")}
        biases = {name: self._head_bias(attention, name) for name in ("Q", "K", "V")}
        factor = self.model.parts.factor
        W_O = self._wide(attention.W_O) * factor
        b_O = self._zeros(self.info.d_model)
        if attention.b_O is not None:
            b_O = self._wide(attention.b_O) * factor
        if self.processing == "folded":
            before = self._norm(block, "ln1")
            if before is not None:
                biases = {name: bias + before.shift @ heads[name] for name, bias in biases.items()}
                heads = {name: before.reader(matrix) for name, matrix in heads.items()}
            after = self._norm(block, "ln1_post")
            if after is not None:
                W_O, b_O = after.rows(W_O), after.rows(b_O)
        return LayerWeights(
            heads["Q"], heads["K"], heads["V"], W_O, biases["Q"], biases["K"], biases["V"], b_O
        )

    def score_scale(self, layer: int) -> float:
        """What a query's product with a key is divided by: sqrt(d_head), or what the architecture says."""
        scaling = getattr(original(self._block(layer).attn), "scaling", None)
        return 1 / scaling if isinstance(scaling, float) and scaling > 0 else math.sqrt(self.info.d_head)

    def layers(self) -> Iterator[LayerWeights]:
        """Every layer in turn."""
        return map(self.layer, range(self.info.n_layers))

    def mlp(self, layer: int) -> MlpWeights | None:
        """One layer's MLP, or None where there is none that has one input and one output matrix."""
        block = self._block(layer)
        if "mlp" not in block.submodules:
            return None
        W_in, W_out = (getattr(block.mlp, name, None) for name in ("W_in", "W_out"))
        if not (isinstance(W_in, torch.Tensor) and isinstance(W_out, torch.Tensor)) or W_in.ndim != 2:
            return None
        W_in, W_out = self._wide(W_in), self._wide(W_out) * self.model.parts.factor
        if self.processing == "folded":
            # GPT-J and the like read the same norm with both halves of a block.
            before = self._norm(block, "ln2") or self._norm(block, "ln1")
            after = self._norm(block, "ln2_post")
            W_in = before.reader(W_in) if before is not None else W_in
            W_out = after.rows(W_out) if after is not None else W_out
        return MlpWeights(W_in, W_out)

    @cached_property
    def n_tokens(self) -> int:
        """Tokens that the tokenizer knows: rows of the embedding beyond them are padding."""
        known = getattr(self.model.tokenizer, "n_vocab", self.info.d_vocab)
        return min(int(known), len(self.W_E))

    def _heads(self, attention: Any, name: str) -> torch.Tensor:
        matrix = self._wide(getattr(attention, f"W_{name}"))
        return self._per_query_head(matrix)

    def _head_bias(self, attention: Any, name: str) -> torch.Tensor:
        bias = getattr(attention, f"b_{name}")
        if bias is None:
            return self._zeros(self.info.n_heads, self.info.d_head)
        return self._per_query_head(self._wide(bias))

    def _per_query_head(self, grouped: torch.Tensor) -> torch.Tensor:
        return grouped.repeat_interleave(self.info.n_heads // len(grouped), 0)

    def _block(self, layer: int) -> Any:
        if not 0 <= layer < self.info.n_layers:
            raise Invalid(
                f"Layer {layer} of {self.info.n_layers}.",
                f"Layers run 0-{self.info.n_layers - 1}.",
                code="no-layer",
            )
        return self.bridge.blocks[layer]

    def _norm(self, block: Any, name: str) -> Fold | None:
        return self._fold(getattr(block, name)) if name in block.submodules else None

    def _fold(self, norm: Any) -> Fold:
        fold = measure_norm(norm, self.info.d_model)
        return Fold(self._wide(fold.scale), self._wide(fold.shift), fold.centred)

    @cached_property
    def _tied(self) -> bool:
        W_E, W_U = self.bridge.W_E, self.bridge.W_U
        return bool(W_E.data_ptr() == W_U.data_ptr() and W_E.shape == W_U.T.shape)

    @cached_property
    def _embedding_factor(self) -> float:
        return embedding_factor(self.model, self.bridge)

    def _wide(self, weights: torch.Tensor) -> torch.Tensor:
        return weights.detach().to(self.dtype)

    def _zeros(self, *shape: int) -> torch.Tensor:
        return torch.zeros(*shape, dtype=self.dtype, device=self.model.device)


def read_weights(
    model: HeadModel, processing: Processing = "folded", dtype: torch.dtype = torch.float32
) -> Weights:
    """The weights of a model, upcast to ``dtype`` (float32 or float64), raw or folded.

    Raises Invalid for another dtype, Refused where there is no token embedding, no attention in
    a layer, or an encoder.
    """
    if dtype not in (torch.float32, torch.float64):
        raise Invalid(f"Circuits aren't computed in {dtype}.", "Use float32 or float64.", code="bad-dtype")
    return Weights(model, processing, dtype)


def embedding_factor(model: HeadModel, bridge: Any) -> float:
    """What the model multiplies its embedding by before the first layer: 1, or sqrt(d_model) in Gemma.

    Raises Refused where the first layer's input isn't the embedding (plus positions) times a number, the same
    for two tokens.
    """
    seen: list[torch.Tensor] = []
    tokens = torch.arange(1, 3, device=model.device)
    with torch.no_grad(), reading_input(model.parts.blocks[0], seen.append):
        model.logits(tokens[:, None])
    first, embedded = seen[0].flatten(1).double(), bridge.W_E[tokens].double()
    positions = getattr(bridge, "W_pos", None) if hasattr(bridge, "pos_embed") else None
    if isinstance(positions, torch.Tensor):
        first = first - positions[len(positions) - model.info.n_ctx].double()
    alike = first.shape == embedded.shape
    factor = float((first * embedded).sum() / embedded.square().sum()) if alike else 0.0
    if not alike or not torch.allclose(first, factor * embedded, atol=2e-2 * float(first.abs().max())):
        raise Refused(
            f"{model.info.name} changes its embedding before the first layer, by more than a factor.",
            f"Circuits from weights can't start from its tokens. {APPLICABLE}",
            code="no-token-embedding",
        )
    return 1.0 if abs(factor - 1) < 2e-2 else factor


def _bridge(model: HeadModel) -> Any:
    info = model.info
    if model.parts.final_norm is None:
        raise Refused(
            f"{info.name} has no norm before its unembedding: norms come after what is written, so that its "
            "stream is no sum of what heads write.",
            APPLICABLE,
            code="no-stream",
        )
    bridge = _booted(model)
    if bridge is None or not hasattr(bridge, "embed") or not hasattr(bridge, "unembed"):
        raise Refused(
            f"{info.name} has no token embedding and unembedding that circuits could be read between.",
            APPLICABLE,
            code="no-token-embedding",
        )
    if hasattr(bridge, "encoder_blocks"):
        raise Refused(
            f"{info.name} is an encoder with a decoder: its heads share no single residual stream.",
            APPLICABLE,
            code="encoder",
        )
    without = [layer for layer, block in enumerate(bridge.blocks) if "attn" not in block.submodules]
    if without:
        raise Refused(
            f"Layers {', '.join(map(str, without))} of {info.name} have no attention.",
            APPLICABLE,
            code="no-attention",
        )
    return bridge


def _booted(model: HeadModel) -> Any:
    """What names the weights; None where a model has no such thing."""
    try:
        return getattr(model, "bridge", None)
    except Exception as error:  # TransformerLens raises what it likes
        raise Refused(
            f"The weights of {model.info.architecture} can't be told apart by head here.",
            APPLICABLE,
            code="no-head-weights",
        ) from error
