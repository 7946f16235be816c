"""Module trees, the adapters that know them, and how to put a TransformerBridge around one. Loads weights
once.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("WANDB_MODE", "disabled")  # TransformerLens depends on wandb; nothing here phones home
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from torch import nn

from headscope.core.model.folder import ATTENTION_ONLY, check, read_config
from headscope.core.model.info import ModelInfo
from headscope.core.model.quantised import dequantised, is_fp8, read_weights
from headscope.core.model.upstream import mend, prepare
from headscope.core.model.weight_files import has_adapter, weight_files
from headscope.errors import Invalid

DTYPES = {name: getattr(torch, name) for name in ("float32", "bfloat16", "float16", "float64")}

Made = tuple[nn.Module, Any, Callable[[nn.Module], Any]]
"""The architecture's own module, its adapter where there is one, and what boots a bridge around its like."""


def make(folder: Path, info: ModelInfo, attention: str) -> Made:
    """Load a folder's weights. Raises Invalid for weights and architectures that can't be used."""
    if info.architecture == ATTENTION_ONLY:
        return _attention_only(folder, info)
    return _transformers(folder, info, attention)


def _transformers(folder: Path, info: ModelInfo, attention: str) -> Made:
    """An architecture of the transformers library, its adapter, and how to boot a bridge over it."""
    import transformers
    from transformer_lens.model_bridge.sources._bridge_builder import build_bridge_from_module

    transformers.utils.logging.disable_progress_bar()
    dtype = DTYPES[info.dtype]
    try:
        settings = {"dtype": dtype, "attn_implementation": attention if fuses(folder) else "eager"}
        settings |= {"local_files_only": True, "use_safetensors": True, "trust_remote_code": False}
        module, loading = _pretrained(folder, settings)
        if dtype == torch.float64 and module._can_set_experts_implementation():
            module.set_experts_implementation("eager")  # the fused one knows no float64
    except (OSError, ValueError, KeyError, RuntimeError, ImportError) as error:
        raise Invalid(
            f"{folder} can't be loaded as {info.architecture}: {error}",
            "Choose a decoder-only architecture that transformers knows.",
            code="unsupported-architecture",
        ) from error
    if loading["missing_keys"]:
        missing = sorted(loading["missing_keys"])
        raise Invalid(
            f"The weights in {folder} lack {len(missing)} tensors, e.g. {missing[0]}.",
            "Copy or fetch the model again.",
            code="missing-weights",
        )

    mend(module)

    def boot(twin: Any) -> Any:
        # Not boot_transformers, which would load a second tokenizer and look for it on the hub.
        twin.set_attn_implementation("eager")
        prepare(twin)
        return build_bridge_from_module(
            twin, info.architecture, hf_config=copy.deepcopy(twin.config), model_name=info.name
        )

    try:
        return module, adapter_for(module.config, info.architecture, info.name, dtype), boot
    except (ValueError, KeyError, AttributeError):
        return module, None, boot  # its parts are found by usual names, its weights by none


def fuses(folder: Path) -> bool:
    """Whether an architecture of the transformers library has fused attention; what it doesn't know, has."""
    import transformers

    config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    known = transformers.MODEL_FOR_CAUSAL_LM_MAPPING
    return type(config) not in known or bool(known[type(config)]._supports_sdpa)


def _pretrained(folder: Path, settings: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The folder as transformers loads it; or from configuration and tensors by themselves, where it would
    make of the folder what it isn't here: 8-bit matrices, a model with its adapter applied.
    """
    import transformers

    fp8 = is_fp8(check(folder))
    if not fp8 and not has_adapter(folder):
        loaded = transformers.AutoModelForCausalLM.from_pretrained(
            folder, output_loading_info=True, **settings
        )
        return loaded[0], loaded[1]
    config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    weights = dequantised(folder, read_config(folder)) if fp8 else read_weights(folder)
    of_family = transformers.MODEL_FOR_CAUSAL_LM_MAPPING[type(config)]
    loaded = of_family.from_pretrained(
        None, config=config, state_dict=weights, output_loading_info=True, **settings
    )
    return loaded[0], loaded[1]


def adapter_for(config: Any, architecture: str, name: str, dtype: torch.dtype) -> Any:
    """TransformerLens' adapter for an architecture of the transformers library: ``component_mapping`` names
    its parts, ``cfg`` its sizes. Raises ValueError, KeyError for one that TransformerLens doesn't know.
    """
    from transformer_lens.factories.architecture_adapter_factory import ArchitectureAdapterFactory
    from transformer_lens.model_bridge.sources._bridge_builder import build_bridge_config_from_hf

    cfg = build_bridge_config_from_hf(copy.deepcopy(config), architecture, name, dtype)
    return ArchitectureAdapterFactory.select_architecture_adapter(cfg)


def _attention_only(folder: Path, info: ModelInfo) -> Made:
    """The bundled architecture: TransformerLens' native model without MLPs."""
    import safetensors.torch

    module, adapter, boot = native(native_config(info), info)
    (file,) = weight_files(folder)
    try:
        module.load_state_dict(safetensors.torch.load_file(file))
    except RuntimeError as error:
        raise Invalid(
            f"{file} doesn't hold the weights that config.json describes: {error}",
            "Copy the folder again.",
            code="missing-weights",
        ) from error
    return module, adapter, boot


def native(settings: Mapping[str, Any], info: ModelInfo) -> Made:
    """A model of TransformerLens' own architecture by its settings, of the precision that ``info`` names;
    its weights are whatever torch puts there.
    """
    from transformer_lens.config import TransformerBridgeConfig
    from transformer_lens.model_bridge.sources._bridge_builder import build_bridge_from_module
    from transformer_lens.model_bridge.sources.native.model import NativeModel
    from transformer_lens.model_bridge.supported_architectures.native import NativeArchitectureAdapter

    cfg = TransformerBridgeConfig(**settings)

    def boot(twin: nn.Module) -> Any:
        return build_bridge_from_module(twin, "TransformerLensNative", tl_config=cfg, model_name=info.name)

    module = NativeModel(cfg).to(DTYPES[info.dtype])
    return module, NativeArchitectureAdapter(copy.deepcopy(cfg)), boot


def native_config(info: ModelInfo) -> dict[str, Any]:
    """TransformerLens' settings for an attention-only model: LayerNorm, learned positions, no MLP."""
    return {
        "n_layers": info.n_layers,
        "d_model": info.d_model,
        "n_heads": info.n_heads,
        "d_head": info.d_head,
        "n_ctx": info.n_ctx,
        "d_vocab": info.d_vocab,
        "attn_only": True,
        "normalization_type": "LN",
        "positional_embedding_type": "standard",
        "architecture": "TransformerLensNative",
        "init_weights": False,
    }
