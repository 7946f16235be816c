"""Tiny random models of each kind, saved as model folders: what a user's own folder looks like."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformer_lens.config import TransformerBridgeConfig
from transformer_lens.model_bridge.sources.native.model import NativeModel

KINDS = ("gpt2", "llama", "gemma2", "attention-only")
D_VOCAB = 300


def save_tokenizer(folder: Path) -> None:
    engine = Tokenizer(models.BPE())
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    engine.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=D_VOCAB,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|bos|>"],
        show_progress=False,
    )
    engine.train_from_iterator(["the cat sat on the mat, and the dog sat on the cat"] * 20, trainer)
    engine.post_processor = processors.TemplateProcessing(
        single="<|bos|> $A", special_tokens=[("<|bos|>", 0)]
    )
    engine.save(str(folder / "tokenizer.json"))


def _hf_config(kind: str) -> transformers.PretrainedConfig:
    shared = {"vocab_size": D_VOCAB, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
    if kind == "gpt2":
        return transformers.GPT2Config(n_layer=3, n_head=4, n_embd=32, n_positions=64, **shared)
    sizes = {
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "hidden_size": 32,
        "intermediate_size": 48,
        "max_position_embeddings": 64,
    }
    if kind == "llama":
        return transformers.LlamaConfig(**sizes, **shared)
    # A head wider than d_model / heads, soft caps low enough to bend small scores, a short sliding window.
    caps = {"attn_logit_softcapping": 0.5, "final_logit_softcapping": 0.3}
    return transformers.Gemma2Config(
        head_dim=12, query_pre_attn_scalar=12, sliding_window=8, **caps, **sizes, **shared
    )


def _enlarge(module: torch.nn.Module) -> None:
    """Weights large enough that no head is negligible."""
    with torch.no_grad():
        for weights in module.parameters():
            if weights.ndim > 1:
                weights.normal_(0, 0.2)


def save_model(kind: str, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    save_tokenizer(folder)
    torch.manual_seed(0)
    if kind == "attention-only":
        cfg = TransformerBridgeConfig(
            n_layers=2, d_model=32, n_heads=4, d_head=8, n_ctx=64, d_vocab=D_VOCAB, attn_only=True,
            normalization_type="LN", positional_embedding_type="standard",
            architecture="TransformerLensNative", init_weights=False,
        )  # fmt: skip
        native = NativeModel(cfg)
        _enlarge(native)
        save_file(native.state_dict(), str(folder / "model.safetensors"))
        config = {
            "architectures": ["HeadscopeAttentionOnly"], "model_type": "headscope-attention-only",
            "num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32, "head_dim": 8,
            "max_position_embeddings": 64, "vocab_size": D_VOCAB, "bos_token_id": 0,
        }  # fmt: skip
        (folder / "config.json").write_text(json.dumps(config))
        return folder
    module = transformers.AutoModelForCausalLM.from_config(_hf_config(kind))
    _enlarge(module)
    module.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session", params=KINDS)
def tiny_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder of each kind in turn."""
    return save_model(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="session")
def llama_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder with grouped queries."""
    return save_model("llama", tmp_path_factory.mktemp("llama-alone"))
