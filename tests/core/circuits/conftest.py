"""Models of 50 tokens, for explicit vocab x vocab matrices; norms and biases matter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, pre_tokenizers
from transformer_lens.config import TransformerBridgeConfig
from transformer_lens.model_bridge.sources.native.model import NativeModel

from headscope.core.model.bridge import BridgedModel
from headscope.core.model.load import load_model

VOCAB = 50
KINDS = ("attention-only", "gpt2", "llama", "gemma2")
_SIZES = {
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "hidden_size": 24,
    "intermediate_size": 20,
    "max_position_embeddings": 32,
}
_SHARED = {"vocab_size": VOCAB, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}


def _module(kind: str) -> torch.nn.Module:
    if kind == "attention-only":
        cfg = TransformerBridgeConfig(
            n_layers=2, d_model=24, n_heads=4, d_head=6, n_ctx=32, d_vocab=VOCAB, attn_only=True,
            normalization_type="LN", positional_embedding_type="standard",
            architecture="TransformerLensNative", init_weights=False,
        )  # fmt: skip
        native: torch.nn.Module = NativeModel(cfg)
        return native
    if kind == "gpt2":
        config = transformers.GPT2Config(n_layer=3, n_head=4, n_embd=24, n_positions=32, **_SHARED)
    elif kind == "llama":
        config = transformers.LlamaConfig(**_SIZES, **_SHARED)
    else:
        caps = {"attn_logit_softcapping": 5.0, "final_logit_softcapping": 3.0}
        config = transformers.Gemma2Config(head_dim=8, query_pre_attn_scalar=8, **caps, **_SIZES, **_SHARED)
    module: torch.nn.Module = transformers.AutoModelForCausalLM.from_config(config)
    return module


def save(kind: str, folder: Path, *, dtype: torch.dtype = torch.float32, without_mlp: bool = False) -> Path:
    """A model folder whose norms' weights and biases are drawn too, so that folding them matters."""
    folder.mkdir(parents=True, exist_ok=True)
    words = {f"w{index}": index for index in range(VOCAB)}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="w0"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    torch.manual_seed(1)
    module = _module(kind)
    with torch.no_grad():
        for name, weights in module.named_parameters():
            norm = weights.ndim == 1 and name.endswith("weight")
            weights.normal_(1.0 if norm and kind != "gemma2" else 0.0, 0.3)
            if without_mlp and any(part in name for part in ("down_proj", "mlp.c_proj")):
                weights.zero_()
    module = module.to(dtype)
    if kind == "attention-only":
        save_file(module.state_dict(), str(folder / "model.safetensors"))
        config = {
            "architectures": ["HeadscopeAttentionOnly"], "model_type": "headscope-attention-only",
            "num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 24, "head_dim": 6,
            "max_position_embeddings": 32, "vocab_size": VOCAB, "bos_token_id": 0,
        }  # fmt: skip
        (folder / "config.json").write_text(json.dumps(config))
    else:
        module.save_pretrained(folder)  # type: ignore[operator]
    return folder


def load(folder: Path, dtype: str = "float32") -> BridgedModel:
    """The folder's model as what it is."""
    model = load_model(folder, name="tiny", dtype=dtype, device="cpu")
    assert isinstance(model, BridgedModel)
    return model


@pytest.fixture(scope="session", params=KINDS)
def model(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> BridgedModel:
    """A 50-token model of each kind in turn."""
    return load(save(request.param, tmp_path_factory.mktemp(request.param)))


@pytest.fixture(scope="session")
def attention_only(tmp_path_factory: pytest.TempPathFactory) -> BridgedModel:
    """Two layers of four heads without MLP, in float64."""
    return load(save("attention-only", tmp_path_factory.mktemp("attention-only-64")), "float64")


@pytest.fixture(scope="session")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> BridgedModel:
    """Grouped queries, rotary positions, gated MLPs."""
    return load(save("llama", tmp_path_factory.mktemp("llama-64")), "float64")
