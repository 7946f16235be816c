"""Planted weights in TransformerLens' native architecture, behind the same adapter, hooks and gates as any
model.
"""

from __future__ import annotations

import torch

from headscope.core.model.boot import native
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.head_model import HeadModel
from headscope.core.model.info import ModelInfo
from headscope.validation.planted import Plan, Weights
from headscope.validation.words import word_tokenizer


def as_model(weights: Weights, plan: Plan, name: str) -> HeadModel:
    """The model of a plan in float32, on the CPU."""
    return model_of(weights, name, plan.start, revision="planted")


def model_of(weights: Weights, name: str, start: int | None, revision: str) -> HeadModel:
    """A model of these weights in float32, on the CPU; ``start`` is the token that goes first, if any."""
    info = _info(weights, name, revision, bos=start is not None)
    module, adapter, boot = native(settings(weights), info)
    module.load_state_dict({key: value.float() for key, value in _state(weights).items()})
    tokenizer = word_tokenizer(len(weights.W_E), start)
    return BridgedModel(module, boot, adapter, info, tokenizer, attention="eager")


def settings(weights: Weights) -> dict[str, object]:
    """TransformerLens' settings for a model of these shapes."""
    n_layers, n_heads, d_model, d_head = weights.W_Q.shape
    return {
        "n_layers": n_layers,
        "d_model": d_model,
        "n_heads": n_heads,
        "n_key_value_heads": weights.W_K.shape[1],
        "d_head": d_head,
        "d_mlp": 1 if weights.W_in is None else weights.W_in.shape[-1],
        "act_fn": "relu",
        "n_ctx": len(weights.W_pos),
        "d_vocab": len(weights.W_E),
        "attn_only": weights.W_in is None,
        "normalization_type": None,
        "positional_embedding_type": "standard",
        "architecture": "TransformerLensNative",
        "init_weights": False,
    }


def _state(weights: Weights) -> dict[str, torch.Tensor]:
    """The architecture's names; its linear layers hold [out, in], heads side by side, and biases of 0."""
    state = {"tok_embed.weight": weights.W_E, "pos.weight": weights.W_pos, "head.weight": weights.W_U.T}
    for layer in range(len(weights.W_Q)):
        for name, read in (("q", weights.W_Q), ("k", weights.W_K), ("v", weights.W_V)):
            state[f"layers.{layer}.attn.{name}.weight"] = read[layer].transpose(1, 2).flatten(0, 1)
        state[f"layers.{layer}.attn.o.weight"] = weights.W_O[layer].flatten(0, 1).T
        if weights.W_in is not None and weights.W_out is not None:
            state[f"layers.{layer}.mlp.fc_in.weight"] = weights.W_in[layer].T
            state[f"layers.{layer}.mlp.fc_out.weight"] = weights.W_out[layer].T
    inner = [(name, weight) for name, weight in state.items() if name.startswith("layers")]
    return state | {name.replace("weight", "bias"): weight.new_zeros(len(weight)) for name, weight in inner}


def _info(weights: Weights, name: str, revision: str, *, bos: bool) -> ModelInfo:
    n_layers, n_heads, d_model, d_head = weights.W_Q.shape
    inner = [weights.W_Q, weights.W_K, weights.W_V, weights.W_O, weights.W_in, weights.W_out]
    n_inner = sum(w.numel() for w in inner if w is not None)
    return ModelInfo(
        name=name,
        revision=revision,
        architecture="TransformerLensNative",
        n_layers=n_layers,
        n_heads=n_heads,
        n_kv_heads=weights.W_K.shape[1],
        d_model=d_model,
        d_head=d_head,
        d_vocab=len(weights.W_E),
        n_ctx=len(weights.W_pos),
        n_params=n_inner + sum(w.numel() for w in (weights.W_E, weights.W_pos, weights.W_U)),
        n_params_non_embedding=n_inner,
        dtype="float32",
        weight_processing="none",
        tokenizer_hash="planted",
        bos=bos,
    )
