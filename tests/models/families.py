"""Families of language models as tiny random ones: two layers of four heads over a stream of 32 numbers.

One list, a few lines each: what a family's configuration is called in transformers, what makes it this family
and no other, and where its layers apply W_O. ``save`` writes one as a model folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers

from core.conftest import D_VOCAB, save_tokenizer

SIZES = {
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "hidden_size": 32,
    "intermediate_size": 48,
    "max_position_embeddings": 64,
}
TOKENS = {"vocab_size": D_VOCAB, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 1}
GROUPED = {"num_key_value_heads": 2}
GPT = {"n_layer": 2, "n_head": 4, "n_embd": 32, "n_positions": 64}
EXPERTS = {"num_experts_per_tok": 2, "moe_intermediate_size": 24}
LATENT = {
    "q_lora_rank": 16,
    "kv_lora_rank": 16,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 4,
    "v_head_dim": 8,
}


@dataclass(frozen=True)
class Family:
    """One family: ``config`` is its configuration's class, ``output`` the path of layer {}'s W_O."""

    name: str
    config: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    output: str = "model.layers.{}.self_attn.o_proj"
    model: str = ""
    """The model's class, where it isn't the configuration's usual causal one."""
    fails_in_float64: bool = False
    eager_is_wrong: bool = False
    """Whether transformers' eager attention is another one than its fused one, and at fault."""


def _of(name: str, config: str, *settings: Mapping[str, Any], **more: Any) -> Family:
    """With the usual sizes."""
    merged = {key: value for part in (SIZES, *settings) for key, value in part.items()}
    return Family(name, config, merged, **more)


def _gpt(name: str, config: str, output: str, **more: Any) -> Family:
    """With sizes as GPT-2 names them."""
    return Family(name, config, {**GPT, **more}, output)


GPT_OUTPUT = "transformer.h.{}.attn.c_proj"

FAMILIES = (
    _gpt("GPT-1", "OpenAIGPTConfig", GPT_OUTPUT),
    _gpt("GPT-2", "GPT2Config", GPT_OUTPUT),
    _gpt("GPT-2 (scores by layer)", "GPT2Config", GPT_OUTPUT, scale_attn_by_inverse_layer_idx=True),
    _gpt("GPTBigCode (SantaCoder), one key-value head", "GPTBigCodeConfig", GPT_OUTPUT, multi_query=True),
    _gpt("GPTBigCode, ordinary heads", "GPTBigCodeConfig", GPT_OUTPUT, multi_query=False),
    _gpt("GPT-J", "GPTJConfig", "transformer.h.{}.attn.out_proj", rotary_dim=4),
    _gpt("CodeGen", "CodeGenConfig", "transformer.h.{}.attn.out_proj", rotary_dim=4),
    Family(
        "GPT-Neo",
        "GPTNeoConfig",
        {"num_layers": 2, "num_heads": 4, "hidden_size": 32, "max_position_embeddings": 64,
         "attention_types": [[["global", "local"], 1]], "window_size": 4},
        "transformer.h.{}.attn.attention.out_proj",
    ),
    _of("GPT-NeoX (Pythia)", "GPTNeoXConfig", output="gpt_neox.layers.{}.attention.dense"),
    _of("GPT-NeoX, no attention bias", "GPTNeoXConfig", {"attention_bias": False},
        output="gpt_neox.layers.{}.attention.dense"),
    _of("GPT-NeoX, attention before the MLP", "GPTNeoXConfig", {"use_parallel_residual": False},
        output="gpt_neox.layers.{}.attention.dense"),
    Family("BLOOM", "BloomConfig", {"n_layer": 2, "n_head": 4, "hidden_size": 32, "seq_length": 64},
           "transformer.h.{}.self_attention.dense"),
    Family("MPT", "MptConfig", {"n_layers": 2, "n_heads": 4, "d_model": 32, "max_seq_len": 64},
           "transformer.blocks.{}.attn.out_proj"),
    Family("MPT, clipped", "MptConfig",
           {"n_layers": 2, "n_heads": 4, "d_model": 32, "max_seq_len": 64, "attn_config": {"clip_qkv": 0.3}},
           "transformer.blocks.{}.attn.out_proj"),
    _of("OPT", "OPTConfig", {"ffn_dim": 48, "word_embed_proj_dim": 32},
        output="model.decoder.layers.{}.self_attn.out_proj"),
    _of("OPT-350m (norms after, projected embedding)", "OPTConfig",
        {"ffn_dim": 48, "word_embed_proj_dim": 16, "do_layer_norm_before": False},
        output="model.decoder.layers.{}.self_attn.out_proj"),
    Family("XGLM", "XGLMConfig",
           {"num_layers": 2, "attention_heads": 4, "d_model": 32, "ffn_dim": 48,
            "max_position_embeddings": 64},
           "model.layers.{}.self_attn.out_proj", fails_in_float64=True),
    _of("BioGPT", "BioGptConfig", output="biogpt.layers.{}.self_attn.out_proj"),
    _of("Falcon-7B (one key-value head)", "FalconConfig",
        {"multi_query": True, "new_decoder_architecture": False},
        output="transformer.h.{}.self_attention.dense"),
    _of("Falcon-40B (groups)", "FalconConfig", {"num_kv_heads": 2, "new_decoder_architecture": True},
        output="transformer.h.{}.self_attention.dense"),
    _of("Falcon-RW (ALiBi)", "FalconConfig",
        {"multi_query": False, "alibi": True, "parallel_attn": False, "bias": True,
         "new_decoder_architecture": False},
        output="transformer.h.{}.self_attention.dense", eager_is_wrong=True),
    _of("Llama", "LlamaConfig", GROUPED),
    _of("Llama, biases", "LlamaConfig", GROUPED, {"attention_bias": True, "mlp_bias": True}),
    _of("Llama, wide heads", "LlamaConfig", GROUPED, {"head_dim": 12}),
    _of("Llama 4", "Llama4TextConfig", GROUPED,
        {"head_dim": 8, "num_local_experts": 2, "intermediate_size_mlp": 48, "attention_chunk_size": 8}),
    _of("Mistral", "MistralConfig", GROUPED, {"sliding_window": 8}),
    _of("Mixtral", "MixtralConfig", GROUPED, {"num_local_experts": 4, "sliding_window": None}),
    _of("Ministral", "MinistralConfig", GROUPED, {"head_dim": 8, "sliding_window": 8,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}),
    _of("Qwen 2", "Qwen2Config", GROUPED),
    _of("Qwen 2 MoE", "Qwen2MoeConfig", GROUPED, EXPERTS,
        {"num_experts": 4, "shared_expert_intermediate_size": 24}),
    _of("Qwen 3", "Qwen3Config", GROUPED, {"head_dim": 8}),
    _of("Qwen 3 MoE", "Qwen3MoeConfig", GROUPED, EXPERTS, {"num_experts": 4, "head_dim": 8}),
    _of("Gemma", "GemmaConfig", GROUPED, {"head_dim": 12}),
    _of("Gemma 2", "Gemma2Config", GROUPED,
        {"head_dim": 12, "query_pre_attn_scalar": 12, "sliding_window": 8, "attn_logit_softcapping": 0.5,
         "final_logit_softcapping": 0.3}),
    _of("Gemma 3", "Gemma3TextConfig", {"num_key_value_heads": 1},
        {"head_dim": 12, "query_pre_attn_scalar": 12, "sliding_window": 8,
         "layer_types": ["sliding_attention", "full_attention"]}),
    _of("Gemma 3n", "Gemma3nTextConfig", GROUPED,
        {"head_dim": 8, "num_kv_shared_layers": 0, "vocab_size_per_layer_input": D_VOCAB,
         "hidden_size_per_layer_input": 8, "laurel_rank": 4, "altup_num_inputs": 2,
         "layer_types": ["sliding_attention", "full_attention"], "sliding_window": 8,
         "activation_sparsity_pattern": [0.0, 0.0]}),
    _of("VaultGemma", "VaultGemmaConfig", GROUPED, {"head_dim": 8, "sliding_window": 8}),
    _of("Phi", "PhiConfig", output="model.layers.{}.self_attn.dense"),
    _of("Phi-3, Phi-4 mini", "Phi3Config", GROUPED),
    _of("Phi-3.5 MoE", "PhimoeConfig", GROUPED, {"num_local_experts": 4}),
    _of("StableLM", "StableLmConfig", GROUPED),
    _of("StableLM 2 (q/k norms, one stream)", "StableLmConfig", GROUPED,
        {"qk_layernorm": True, "use_parallel_residual": True}),
    _of("OLMo", "OlmoConfig"),
    _of("OLMo-7B (clipped)", "OlmoConfig", {"clip_qkv": 0.3}),
    _of("OLMo 2", "Olmo2Config", GROUPED),
    _of("OLMo 3", "Olmo3Config", GROUPED, {"sliding_window": 8}),
    _of("OLMoE", "OlmoeConfig", GROUPED, {"num_experts": 4, "num_experts_per_tok": 2}),
    _of("FlexOlmo", "FlexOlmoConfig", GROUPED, {"num_experts": 4, "num_experts_per_tok": 2}),
    _of("Granite", "GraniteConfig", GROUPED,
        {"attention_multiplier": 0.2, "residual_multiplier": 0.5, "logits_scaling": 2.0,
         "embedding_multiplier": 3.0}),
    _of("Granite MoE", "GraniteMoeConfig", GROUPED,
        {"num_local_experts": 4, "num_experts_per_tok": 2, "residual_multiplier": 0.5}),
    _of("Cohere (Command R)", "CohereConfig", GROUPED, {"logit_scale": 0.25}),
    _of("Cohere (Command R+, q/k norms)", "CohereConfig", GROUPED, {"use_qk_norm": True}),
    _of("Cohere 2 (Command A)", "Cohere2Config", GROUPED, {"sliding_window": 8, "sliding_window_pattern": 2}),
    _of("StarCoder 2", "Starcoder2Config", GROUPED, {"use_bias": True}),
    _of("Persimmon", "PersimmonConfig", output="model.layers.{}.self_attn.dense"),
    _of("Nemotron", "NemotronConfig", GROUPED),
    _of("GLM", "GlmConfig", GROUPED, {"head_dim": 8}),
    _of("GLM 4", "Glm4Config", GROUPED, {"head_dim": 8}),
    _of("GLM 4.5 (MoE)", "Glm4MoeConfig", GROUPED, EXPERTS,
        {"n_routed_experts": 4, "n_shared_experts": 1, "head_dim": 8, "first_k_dense_replace": 1,
         "use_qk_norm": True}),
    _of("EXAONE 4", "Exaone4Config", GROUPED, {"head_dim": 8, "sliding_window": 8,
        "layer_types": ["sliding_attention", "full_attention"]}),
    _of("SmolLM 3", "SmolLM3Config", GROUPED, {"no_rope_layers": [1, 0]}),
    _of("Helium", "HeliumConfig", GROUPED, {"head_dim": 8}),
    _of("Arcee", "ArceeConfig", GROUPED),
    _of("Seed-OSS", "SeedOssConfig", GROUPED, {"head_dim": 8}),
    _of("ERNIE 4.5", "Ernie4_5Config", GROUPED, {"head_dim": 8}),
    _of("ERNIE 4.5 MoE", "Ernie4_5_MoeConfig", GROUPED,
        {"moe_num_experts": 4, "moe_k": 2, "moe_intermediate_size": 24, "moe_layer_start_index": 1}),
    _of("HunYuan", "HunYuanDenseV1Config", GROUPED, {"head_dim": 8}),
    _of("HunYuan MoE", "HunYuanMoEV1Config", GROUPED, {"head_dim": 8, "num_experts": 4, "moe_topk": 2}),
    _of("Apertus", "ApertusConfig", GROUPED),
    _of("Jais 2", "Jais2Config", GROUPED),
    _of("dots.llm1", "Dots1Config", GROUPED, EXPERTS,
        {"n_routed_experts": 4, "n_shared_experts": 1, "head_dim": 8, "first_k_dense_replace": 1}),
    _of("BitNet", "BitNetConfig", GROUPED),
    _of("nanochat", "NanoChatConfig", GROUPED),
    _of("ModernBERT decoder", "ModernBertDecoderConfig", output="model.layers.{}.attn.Wo"),
    _of("Doge", "DogeConfig", GROUPED),
    Family("DBRX", "DbrxConfig",
           {"d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": 64,
            "attn_config": {"kv_n_heads": 2, "clip_qkv": 0.3, "rope_theta": 10000.0},
            "ffn_config": {"ffn_hidden_size": 24, "moe_num_experts": 4, "moe_top_k": 2}},
           "transformer.blocks.{}.norm_attn_norm.attn.out_proj"),
    _of("gpt-oss", "GptOssConfig", GROUPED,
        {"head_dim": 8, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 8}),
    _of("MiniMax M2", "MiniMaxM2Config", GROUPED, {"head_dim": 8, "num_local_experts": 4,
        "num_experts_per_tok": 2, "rotary_dim": 4}),
    _of("CTRL", "CTRLConfig", output="transformer.h.{}.multi_head_attention.dense"),
)  # fmt: skip
"""Families whose heads can be mapped."""

REFUSED = (
    _of("JetMoE", "JetMoeConfig", {"num_key_value_heads": 2, "kv_channels": 8, "num_local_experts": 4,
        "num_experts_per_tok": 2}),
    _of("DiffLlama", "DiffLlamaConfig", GROUPED),
    _of("Qwen 3 Next", "Qwen3NextConfig", GROUPED, EXPERTS,
        {"num_experts": 4, "head_dim": 8, "num_hidden_layers": 4, "shared_expert_intermediate_size": 24,
         "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 8,
         "linear_value_head_dim": 8}),
    _of("Granite 4 (hybrid)", "GraniteMoeHybridConfig", GROUPED,
        {"num_local_experts": 4, "num_experts_per_tok": 2, "layer_types": ["mamba", "attention"],
         "mamba_n_heads": 4, "mamba_d_head": 16, "mamba_d_state": 8, "mamba_n_groups": 1, "mamba_expand": 2,
         "shared_intermediate_size": 48}),
    _of("DeepSeek-V2", "DeepseekV2Config", LATENT, EXPERTS,
        {"n_routed_experts": 4, "n_shared_experts": 1, "first_k_dense_replace": 1, "n_group": 1,
         "topk_group": 1}),
    _of("DeepSeek-V3", "DeepseekV3Config", LATENT, EXPERTS,
        {"n_routed_experts": 4, "n_shared_experts": 1, "first_k_dense_replace": 1, "n_group": 1,
         "topk_group": 1, "num_key_value_heads": 4}),
    _of("MiniCPM 3", "MiniCPM3Config", LATENT, {"num_key_value_heads": 4}),
    Family("Mamba", "MambaConfig", {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 8}),
    Family("Mamba 2", "Mamba2Config", {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 8,
           "num_heads": 4, "head_dim": 16, "n_groups": 1}),
    Family("RWKV", "RwkvConfig", {"hidden_size": 32, "num_hidden_layers": 2, "attention_hidden_size": 32}),
    _of("Jamba", "JambaConfig", GROUPED, {"num_experts": 2, "use_mamba_kernels": False,
        "attn_layer_period": 2, "attn_layer_offset": 1, "mamba_d_state": 8, "mamba_dt_rank": 4}),
    _of("RecurrentGemma", "RecurrentGemmaConfig", {"num_key_value_heads": 1, "head_dim": 8, "lru_width": 32,
        "block_types": ["recurrent", "attention"], "attention_window_size": 16}),
    _of("Bamba", "BambaConfig", GROUPED, {"attn_layer_indices": [1], "mamba_n_heads": 4, "mamba_d_head": 16,
        "mamba_d_state": 8, "mamba_n_groups": 1}),
    _of("Zamba 2", "Zamba2Config", {"mamba_d_state": 8, "n_mamba_heads": 4, "mamba_headdim": 16,
        "mamba_ngroups": 1, "layers_block_type": ["mamba", "hybrid"], "num_mem_blocks": 1}),
    _of("MiniMax-Text-01", "MiniMaxConfig", GROUPED, {"num_local_experts": 4, "num_experts_per_tok": 2,
        "layer_types": ["linear_attention", "full_attention"], "block_size": 16}),
    _of("LFM 2", "Lfm2Config", GROUPED, {"layer_types": ["conv", "full_attention"]}),
    Family("T5", "T5Config", {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4},
           model="T5ForConditionalGeneration"),
    Family("BART", "BartConfig", {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2,
           "encoder_attention_heads": 4, "decoder_attention_heads": 4, "encoder_ffn_dim": 48,
           "decoder_ffn_dim": 48, "max_position_embeddings": 64}, model="BartForConditionalGeneration"),
    _of("BERT", "BertConfig", model="BertForMaskedLM"),
    _of("BERT as a causal model", "BertConfig", model="BertLMHeadModel"),
    _of("RoBERTa", "RobertaConfig", model="RobertaForMaskedLM"),
)  # fmt: skip
"""Families without such heads."""


def save(family: Family, folder: Path) -> Path:
    """The family as a model folder, its weights large enough that no head is negligible."""
    folder.mkdir(parents=True, exist_ok=True)
    save_tokenizer(folder)
    torch.manual_seed(0)
    config = getattr(transformers, family.config)(**family.settings, **TOKENS)
    if family.model:
        module = getattr(transformers, family.model)(config)
    else:
        module = transformers.AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for weights in module.parameters():
            if weights.ndim > 1:
                weights.normal_(0, 0.2)
            else:
                weights.add_(torch.randn_like(weights) * 0.1)
    module.save_pretrained(folder)
    return folder
