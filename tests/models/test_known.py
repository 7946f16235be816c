"""The list of known models is true of their published configurations, and a configuration can be tried."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
import transformers

from headscope.errors import Invalid
from headscope.models.known import KNOWN, KnownModel
from headscope.models.trial import small, try_config

LLAMA = {
    "vocab_size": 128_256, "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16,
    "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64, "tie_word_embeddings": True,
    "max_position_embeddings": 131_072,
}  # fmt: skip
GEMMA = {"vocab_size": 262_144, "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256}
GEMMA |= {"max_position_embeddings": 32_768}

PUBLISHED: dict[str, tuple[str, dict[str, Any]]] = {
    "openai-community/gpt2": ("gpt2", {}),
    "EleutherAI/pythia-160m": ("gpt_neox", {
        "vocab_size": 50_304, "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12,
        "num_attention_heads": 12, "max_position_embeddings": 2048,
    }),
    "google/gemma-3-270m": ("gemma3_text", GEMMA | {
        "hidden_size": 640, "intermediate_size": 2048, "num_hidden_layers": 18,
    }),
    "google/gemma-3-1b-pt": ("gemma3_text", GEMMA | {
        "hidden_size": 1152, "intermediate_size": 6912, "num_hidden_layers": 26,
    }),
    "Qwen/Qwen3-0.6B": ("qwen3", {
        "vocab_size": 151_936, "hidden_size": 1024, "intermediate_size": 3072, "num_hidden_layers": 28,
        "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128, "tie_word_embeddings": True,
        "max_position_embeddings": 40_960,
    }),
    "meta-llama/Llama-3.2-1B": ("llama", LLAMA),
    "allenai/OLMo-2-0425-1B": ("olmo2", {
        "vocab_size": 100_352, "hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16,
        "num_attention_heads": 16, "num_key_value_heads": 16, "max_position_embeddings": 4096,
        "tie_word_embeddings": False,
    }),
    "microsoft/Phi-4-mini-instruct": ("phi3", {
        "vocab_size": 200_064, "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 32,
        "num_attention_heads": 24, "num_key_value_heads": 8, "max_position_embeddings": 131_072,
        "tie_word_embeddings": True, "partial_rotary_factor": 0.75,
    }),
    "mistralai/Mistral-7B-v0.3": ("mistral", {
        "vocab_size": 32_768, "hidden_size": 4096, "intermediate_size": 14_336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 32_768,
        "tie_word_embeddings": False,
    }),
}  # fmt: skip


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.title)
def test_what_is_said_of_a_known_model_is_that_of_its_configuration(known: KnownModel) -> None:
    family, settings = PUBLISHED[known.name]
    config = transformers.AutoConfig.for_model(family, **settings)
    with torch.device("meta"):
        module = transformers.AutoModelForCausalLM.from_config(config)
    assert known.n_params == module.num_parameters()
    assert (known.n_layers, known.n_heads) == (config.num_hidden_layers, config.num_attention_heads)
    assert known.n_kv_heads == (getattr(config, "num_key_value_heads", None) or known.n_heads)
    assert known.n_ctx == config.max_position_embeddings
    assert known.n_bytes >= 1.99 * known.n_params  # in 16 bits, rounded


def test_the_list_goes_from_small_to_large_and_says_what_fits() -> None:
    sizes = [known.n_params for known in KNOWN]
    assert sizes == sorted(sizes)
    gpt2, mistral = KNOWN[0], KNOWN[-1]
    assert (gpt2.fits(8 * 2**30), mistral.fits(8 * 2**30), mistral.fits(24 * 2**30)) == (
        "float32", "no", "bfloat16",
    )  # fmt: skip
    assert gpt2.fits(None) is None
    assert gpt2.command == "headscope models fetch openai-community/gpt2"


def config_of(family: str, **changes: Any) -> dict[str, Any]:
    names = {"gpt2": "GPT2LMHeadModel", "gemma3_text": "Gemma3ForCausalLM", "llama": "LlamaForCausalLM"}
    config: dict[str, Any] = transformers.AutoConfig.for_model(family).to_dict()
    return config | {"architectures": [names[family]]} | changes


@pytest.mark.parametrize("family", ["gpt2", "llama", "gemma3_text"])
def test_a_configuration_is_tried_without_its_weights(family: str) -> None:
    settings = {"gpt2": {}, "llama": LLAMA, "gemma3_text": PUBLISHED["google/gemma-3-270m"][1]}[family]
    config = transformers.AutoConfig.for_model(family, **settings).to_dict()
    config["architectures"] = config_of(family)["architectures"]
    trial = try_config(json.dumps(config))
    known = {"gpt2": KNOWN[0], "llama": KNOWN[5], "gemma3_text": KNOWN[2]}[family]
    assert (trial.architecture, trial.sizes["n_params"]) == (config["architectures"][0], known.n_params)
    assert (trial.sizes["n_layers"], trial.sizes["n_heads"], trial.sizes["n_kv_heads"]) == (
        known.n_layers, known.n_heads, known.n_kv_heads,
    )  # fmt: skip
    assert trial.quantised == ""
    assert all(trial.proof.has(capability) for capability in ("logits", "patterns", "gating"))


def test_every_kind_of_layer_is_in_the_small_model() -> None:
    kinds = ["sliding_attention"] * 5 + ["full_attention"]
    config = {"layer_types": kinds * 3, "num_hidden_layers": 18, "num_attention_heads": 4, "hidden_size": 64}
    made = small(config, {"n_layers": 18, "n_heads": 4, "n_kv_heads": 4, "d_head": 16, "d_model": 64})
    assert made["layer_types"] == kinds
    assert made["num_hidden_layers"] == 6


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("{", "bad-config", "not JSON"),
        ("[]", "bad-config", "no JSON object"),
        ("{}", "bad-config", "names no architecture"),
        (json.dumps(config_of("llama", num_attention_heads=0)), "bad-config", "num_attention_heads 0"),
        (
            json.dumps(config_of("llama", model_type="unheard-of")),
            "unsupported-architecture",
            "no model that transformers makes",
        ),
        (
            json.dumps({"architectures": ["T5ForConditionalGeneration"], "is_encoder_decoder": True}),
            "unsupported-architecture",
            "encoder with a decoder",
        ),
        (
            json.dumps({"architectures": ["MambaForCausalLM"], "model_type": "mamba", "hidden_size": 8}),
            "unsupported-architecture",
            "has no attention",
        ),
    ],
)
def test_a_configuration_that_can_not_be_used_is_refused_by_name(text: str, code: str, says: str) -> None:
    with pytest.raises(Invalid) as error:
        try_config(text)
    assert (error.value.code, says in error.value.message) == (code, True), error.value.message
