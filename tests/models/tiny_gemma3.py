"""A Gemma 3 of random weights in miniature: what makes it unlike Llama is all there."""

from __future__ import annotations

from pathlib import Path

import torch
import transformers

from core.conftest import D_VOCAB, save_tokenizer

WINDOW = 8
LAYERS = ("sliding_attention", "full_attention", "sliding_attention", "full_attention")


def save_gemma3(folder: Path, *, dtype: torch.dtype = torch.float64) -> Path:
    """A model folder: four heads over one key/value head, norms on queries and keys, two rotations, windows
    of eight tokens on every other layer, a scaled and tied embedding.
    """
    config = transformers.Gemma3TextConfig(
        vocab_size=D_VOCAB, hidden_size=32, intermediate_size=48, num_hidden_layers=len(LAYERS),
        num_attention_heads=4, num_key_value_heads=1, head_dim=12, query_pre_attn_scalar=16,
        sliding_window=WINDOW, layer_types=list(LAYERS), max_position_embeddings=64,
        rope_parameters={
            "sliding_attention": {"rope_type": "default", "rope_theta": 10.0},
            "full_attention": {"rope_type": "default", "rope_theta": 1000.0},
        },
        bos_token_id=0, eos_token_id=0, pad_token_id=0,
    )  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    save_tokenizer(folder)
    torch.manual_seed(3)
    module = transformers.AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for weights in module.parameters():
            weights.normal_(0, 0.3)  # norms multiply by 1 + weight
    module.to(dtype).save_pretrained(folder)
    return folder
