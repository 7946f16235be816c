"""Counts that config.json states: read by every family's names, refused by name where they can't be."""

from __future__ import annotations

from typing import Any

import pytest

from headscope.core.model.sizes import counts
from headscope.errors import Invalid

LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"], "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "hidden_size": 32, "max_position_embeddings": 64, "vocab_size": 300,
}  # fmt: skip


def test_names_of_several_families() -> None:
    gpt2 = {"n_layer": 2, "n_head": 4, "n_embd": 32, "n_positions": 64, "vocab_size": 300}
    xglm = {
        "num_layers": 2,
        "attention_heads": 4,
        "d_model": 32,
        "max_position_embeddings": 64,
        "vocab_size": 300,
    }
    mpt = {"n_layers": 2, "n_heads": 4, "d_model": 32, "max_seq_len": 64, "vocab_size": 300}
    expected = {
        "n_layers": 2,
        "n_heads": 4,
        "n_kv_heads": 4,
        "d_model": 32,
        "d_head": 8,
        "d_vocab": 300,
        "n_ctx": 64,
    }
    for config in (gpt2, xglm, mpt):
        assert {name: counts(config, {})[name] for name in expected} == expected
    assert counts(LLAMA, {})["n_kv_heads"] == 2
    assert counts(LLAMA | {"head_dim": 12}, {})["d_head"] == 12


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"num_attention_heads": 0}, "num_attention_heads 0"),
        ({"num_attention_heads": -4}, "num_attention_heads -4"),
        ({"num_attention_heads": 5, "num_key_value_heads": 5}, "a width of 32 and 5 heads"),
        ({"num_attention_heads": 10**6}, "num_attention_heads 1000000"),
        ({"num_attention_heads": True}, "num_attention_heads True"),
        ({"num_attention_heads": 4.0}, "num_attention_heads 4.0"),
        ({"num_key_value_heads": 3}, "4 heads over 3 key/value heads"),
        ({"num_key_value_heads": 0}, "num_key_value_heads 0"),
        ({"num_hidden_layers": "two"}, "num_hidden_layers 'two'"),
        ({"num_hidden_layers": 0}, "num_hidden_layers 0"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers 1000000000"),
        ({"hidden_size": -1}, "hidden_size -1"),
        ({"head_dim": 0}, "head_dim 0"),
        ({"vocab_size": 10**12}, "vocab_size 1000000000000"),
        ({"max_position_embeddings": 0}, "max_position_embeddings 0"),
        ({"max_position_embeddings": None}, "states none of max_position_embeddings"),
    ],
)
def test_a_value_that_can_not_be_is_named(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(Invalid) as error:
        counts(LLAMA | changes, {})
    assert says in error.value.message
    assert (error.value.code, bool(error.value.remedy)) == ("bad-config", True)


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (
            {"architectures": ["T5ForConditionalGeneration"], "is_encoder_decoder": True, "num_heads": 8},
            "T5ForConditionalGeneration is an encoder with a decoder",
        ),
        (
            {"architectures": ["MambaForCausalLM"], "hidden_size": 768, "num_hidden_layers": 24},
            "MambaForCausalLM has no attention heads",
        ),
        (LLAMA | {"num_key_value_heads": [2, 4]}, "num_key_value_heads layer by layer"),
    ],
)
def test_what_has_no_heads_that_can_be_shown_is_refused_by_what_it_is(
    config: dict[str, Any], says: str
) -> None:
    with pytest.raises(Invalid) as error:
        counts(config, {})
    assert says in error.value.message
    assert error.value.code == "unsupported-architecture"
