"""A model's counts of layers, heads and widths: read from config.json, held against each other and the
weights, refused by name where they can't be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from headscope.core.model.groups import key_value_heads
from headscope.core.model.kinds import check_kind
from headscope.core.model.weight_files import Stored, embedding_rows, n_parameters
from headscope.errors import Invalid

LAYERS: Final = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")
HEADS: Final = ("num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads")
WIDTH: Final = ("hidden_size", "n_embd", "d_model", "n_embed")
VOCABULARY: Final = ("vocab_size", "padded_vocab_size")
CONTEXT: Final = ("max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length")

_MOST: Final = {"layer": 1000, "head": 1024, "width": 2**17, "vocabulary": 2**22, "context": 2**27}
"""Beyond these no language model is: a slip of the keyboard, found before memory is asked for it."""

_TIED = ("gpt2", "gpt_neo", "gemma", "gemma2", "gemma3_text", "opt", "bloom", "xglm", "openai-gpt", "mpt")
"""Families that tie the unembedding to the embedding where config.json doesn't say."""


def counts(config: Mapping[str, Any], tensors: Mapping[str, Stored]) -> dict[str, int]:
    """Layers, heads, widths and parameters by ModelInfo's names.

    Raises Invalid: unsupported-architecture for what has no heads that are alike in every layer, bad-config
    naming the entry that is missing or can't be.
    """
    refuse_kind(config)
    n_heads = _size(config, HEADS, "head")
    d_model = _size(config, WIDTH, "width")
    n_params, non_embedding = n_parameters(tensors, tied=_is_tied(config))
    found = {
        "n_layers": _size(config, LAYERS, "layer"),
        "n_heads": n_heads,
        "n_kv_heads": _groups(config, n_heads),
        "d_model": d_model,
        "d_head": _head_width(config, d_model, n_heads),
        "d_vocab": _size(config, VOCABULARY, "vocabulary"),
        "n_ctx": _size(config, CONTEXT, "context"),
        "n_params": n_params,
        "n_params_non_embedding": non_embedding,
    }
    _hold_against(tensors, found["d_vocab"])
    return found


def refuse_kind(config: Mapping[str, Any]) -> None:
    """Raise Invalid (unsupported-architecture) for a model that has no map of heads, saying what it is."""
    check_kind(config)
    if not any(name in config for name in HEADS):
        what = str((config.get("architectures") or [config.get("model_type", "This model")])[0])
        raise Invalid(
            f"{what} has no attention heads that config.json counts: it has none of {', '.join(HEADS)}.",
            "Choose a transformer with attention in every layer; recurrent and state-space models have none.",
            code="unsupported-architecture",
        )


def _size(config: Mapping[str, Any], names: tuple[str, ...], what: str) -> int:
    """The first of these entries that is stated."""
    name = next((name for name in names if config.get(name) is not None), None)
    if name is None:
        raise Invalid(
            f"config.json states none of {', '.join(names)}.",
            f"Add the model's own {names[0]}, which its source or its architecture's documentation tells.",
            code="bad-config",
        )
    return _whole(name, config[name], _MOST[what])


def _whole(name: str, value: Any, most: int) -> int:
    if isinstance(value, list | tuple | dict):
        raise Invalid(
            f"config.json gives {name} layer by layer: the heads differ between layers.",
            "Choose a model whose layers have the same heads.",
            code="unsupported-architecture",
        )
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise Invalid(
            f"config.json says {name} {value!r}: a whole number from 1 to {most:,} is needed.",
            "Correct it, or copy the file again from its source.",
            code="bad-config",
        )
    return value


def _groups(config: Mapping[str, Any], n_heads: int) -> int:
    """Key/value heads, as many as heads where config.json doesn't say."""
    stated = config.get("num_key_value_heads")
    if stated is not None:
        _whole("num_key_value_heads", stated, _MOST["head"])
    groups = key_value_heads(config, n_heads)
    if n_heads % groups:
        raise Invalid(
            f"config.json says {n_heads} heads over {groups} key/value heads: {n_heads} is no multiple.",
            "Correct num_attention_heads or num_key_value_heads.",
            code="bad-config",
        )
    return groups


def _head_width(config: Mapping[str, Any], d_model: int, n_heads: int) -> int:
    if config.get("head_dim") is not None:
        return _whole("head_dim", config["head_dim"], _MOST["width"])
    if d_model % n_heads:
        raise Invalid(
            f"config.json says a width of {d_model} and {n_heads} heads, which don't divide it.",
            "Correct one of them, or add the model's own head_dim.",
            code="bad-config",
        )
    return d_model // n_heads


def _is_tied(config: Mapping[str, Any]) -> bool:
    stated = config.get("tie_word_embeddings")
    return bool(stated) if stated is not None else config.get("model_type") in _TIED


def _hold_against(tensors: Mapping[str, Stored], d_vocab: int) -> None:
    rows = embedding_rows(tensors)
    if rows is not None and rows != d_vocab:
        raise Invalid(
            f"config.json says a vocabulary of {d_vocab:,}; the embedding has {rows:,} rows.",
            "Take configuration and weights from the same source.",
            code="bad-config",
        )
