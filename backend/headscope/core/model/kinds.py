"""Kinds of models that have no map of heads, told by their configuration. Loads no torch.

What is said here is said before anything is loaded; what a configuration doesn't tell, the proof does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from headscope.errors import Invalid

_REMEDY: Final = (
    "Choose a decoder-only model with attention in every layer, of Llama, Qwen, Gemma, GPT-2 or the like."
)
_ENCODERS = frozenset(
    ("albert", "bert", "camembert", "deberta", "deberta-v2", "distilbert", "electra", "ernie", "eurobert")
    + ("longformer", "modernbert", "mpnet", "roberta", "roformer", "xlm-roberta", "xlm-roberta-xl")
)
_RECURRENT = frozenset(("falcon_mamba", "mamba", "mamba2", "rwkv", "rwkv7", "xlstm"))
_HYBRID = frozenset(
    ("bamba", "falcon_h1", "jamba", "kimi_linear", "nemotron_h", "recurrent_gemma", "zamba", "zamba2")
)
_ATTENTION = frozenset(("attention", "chunked_attention", "full_attention", "sliding_attention"))


def check_kind(config: Mapping[str, Any]) -> None:
    """Raise ``Invalid`` (unsupported-architecture) where heads can't be mapped, saying what the model is."""
    why = unfit(config)
    if why:
        name = str((config.get("architectures") or [config.get("model_type")])[0])
        raise Invalid(f"{name} {why}", _REMEDY, code="unsupported-architecture")


def unfit(config: Mapping[str, Any]) -> str:
    """Why a model of this configuration has no map of heads, as its name goes on; empty where it may have."""
    kind, name = config.get("model_type"), str((config.get("architectures") or [""])[0])
    if config.get("is_encoder_decoder"):
        return "is an encoder with a decoder: its heads share no single text that they predict."
    if name.endswith("ForMaskedLM") or (kind in _ENCODERS and not config.get("is_decoder")):
        return "is an encoder: it reads its text in both directions and doesn't predict the next token."
    if kind in _RECURRENT:
        return "is a recurrent model: it has no attention, so no heads."
    if kind in _HYBRID or set(_layers(config)) - _ATTENTION:
        return "is a hybrid: some of its layers have no attention, so no heads."
    if config.get("kv_lora_rank"):
        return (
            "has latent attention (MLA): keys and values of all heads are made of one compressed vector, "
            "which no head has for itself."
        )
    if kind == "jetmoe":
        return "chooses heads anew for each token among experts: a head isn't the same one everywhere."
    if kind == "diffllama":
        return "has differential attention: what a head mixes is the difference of two patterns."
    return ""


def _layers(config: Mapping[str, Any]) -> list[str]:
    stated = config.get("layer_types") or config.get("layers_block_type") or config.get("block_types") or []
    return [str(layer) for layer in stated]
