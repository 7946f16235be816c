"""A config.json tried before its weights are downloaded: what it describes, what Headscope makes of it.

1. The configuration is read and refused by name as that of a folder would be.
2. A small model of the same family is made: a few layers of few heads with random weights, everything that
   says how attention works left as it is. It is saved into a temporary folder, loaded as any folder is, and
   proved against the plain model.
3. What is lost there is lost with the real weights, too. What holds is expected of them, not proved.

Nothing is kept.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from headscope.core.model.capabilities import Proof
from headscope.core.model.folder import architecture
from headscope.core.model.quantised import quantisation
from headscope.core.model.sizes import HEADS, LAYERS, VOCABULARY, WIDTH, counts
from headscope.errors import Invalid

_LAYERS: Final = 2
_HEADS: Final = 4
_TOKENS: Final = 128
_HIDDEN: Final = 48

_MLP: Final = (
    *("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size", "moe_intermediate_size"),
    *("shared_expert_intermediate_size", "intermediate_size_mlp"),
)
_EXPERTS: Final = {
    "num_local_experts": 4, "num_experts": 4, "n_routed_experts": 4, "num_experts_per_tok": 2,
}  # fmt: skip
_GROUPS: Final = ("num_key_value_heads", "num_kv_heads")
_SPECIAL: Final = ("bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id")


@dataclass(frozen=True)
class Trial:
    """What a configuration describes, and the proof of a small model of its kind.

    ``sizes`` are the real model's, by ModelInfo's names; ``quantised`` says how its weights are stored in
    fewer bits, if they are.
    """

    architecture: str
    sizes: Mapping[str, int]
    quantised: str
    proof: Proof


def try_config(text: str) -> Trial:
    """Try the content of a config.json; takes seconds and little memory, whatever the model's size.

    Raises Invalid: bad-config, unsupported-architecture.
    """
    config = parsed(text)
    described = config | (config.get("text_config") or {}) | {"architectures": config.get("architectures")}
    name = architecture(described)
    sizes = counts(described, {})
    with tempfile.TemporaryDirectory(prefix="headscope-trial-") as folder:
        proof = _prove_small(small(described, sizes), name, Path(folder))
    return Trial(name, sizes | {"n_params": _parameters(described)}, quantisation(config), proof)


def parsed(text: str) -> dict[str, Any]:
    """The object that the text holds. Raises Invalid (bad-config)."""
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(
            f"This is not JSON: {error}.", "Give the model's own config.json.", code="bad-config"
        ) from error
    if not isinstance(config, dict):
        raise Invalid("This is no JSON object.", "Give the model's own config.json.", code="bad-config")
    return config


def small(config: Mapping[str, Any], sizes: Mapping[str, int]) -> dict[str, Any]:
    """The same configuration with few layers, heads and tokens; a head stays as wide as it is."""
    layers, heads = _layers(config, sizes["n_layers"]), min(_HEADS, sizes["n_heads"])
    groups = max(1, heads * sizes["n_kv_heads"] // sizes["n_heads"])
    width = heads * sizes["d_head"]
    changes = _stated(config, LAYERS, layers) | _stated(config, HEADS, heads) | _stated(config, WIDTH, width)
    changes |= _stated(config, VOCABULARY, _TOKENS) | _stated(config, _GROUPS, groups)
    changes |= _stated(config, _MLP, _HIDDEN) | dict.fromkeys((k for k in _SPECIAL if k in config), 0)
    changes |= {name: most for name, most in _EXPERTS.items() if isinstance(config.get(name), int)}
    if config.get("word_embed_proj_dim") == sizes["d_model"]:
        changes["word_embed_proj_dim"] = width
    lists = {
        name: value[:layers]
        for name, value in config.items()
        if isinstance(value, list) and len(value) == sizes["n_layers"]
    }
    left = {k: v for k, v in config.items() if k not in ("quantization_config", "auto_map", "text_config")}
    return left | lists | changes


def _layers(config: Mapping[str, Any], n_layers: int) -> int:
    """So many that each kind of layer is among them: windows may stand on all but every sixth."""
    kinds = config.get("layer_types")
    if isinstance(kinds, list) and kinds:
        return max(_LAYERS, 1 + max(kinds.index(kind) for kind in set(kinds)))
    pattern = config.get("sliding_window_pattern")
    wanted = pattern if isinstance(pattern, int) and 0 < pattern <= 12 else _LAYERS
    return min(max(_LAYERS, wanted), n_layers)


def _stated(config: Mapping[str, Any], names: tuple[str, ...], value: int) -> dict[str, int]:
    return {name: value for name in names if isinstance(config.get(name), int)}


def _prove_small(config: dict[str, Any], name: str, folder: Path) -> Proof:
    import torch
    import transformers

    from headscope.core.model.load import load_model
    from headscope.core.proof import prove

    generator = torch.Generator().manual_seed(0)
    module = transformers.AutoModelForCausalLM.from_config(_settings(config, name))
    with torch.no_grad():
        for weights in module.parameters():
            if weights.ndim > 1:
                weights.normal_(0, 0.2, generator=generator)  # large enough that no head is negligible
    module.float().save_pretrained(folder)
    written = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(written | {"architectures": [name]}), encoding="utf-8")
    _save_tokenizer(folder)
    model: Any = load_model(folder, name=name, device="cpu")
    return prove(model)


def _parameters(config: Mapping[str, Any]) -> int:
    """Of the real model, made without memory for its weights."""
    import torch
    import transformers

    left = {k: v for k, v in config.items() if k not in ("quantization_config", "auto_map", "text_config")}
    with torch.device("meta"):
        made = _settings(left, architecture(left))
        module = transformers.AutoModelForCausalLM.from_config(made)
    return int(module.num_parameters())


def _settings(config: dict[str, Any], name: str) -> Any:
    import transformers

    kind = str(config.get("model_type", ""))
    try:
        stated = {name: value for name, value in config.items() if name != "model_type"}
        settings = transformers.AutoConfig.for_model(kind, **stated)
        transformers.MODEL_FOR_CAUSAL_LM_MAPPING[type(settings)]
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        reason = str(error).strip().splitlines() or ["no reason given"]
        raise Invalid(
            f"{name} is no model that transformers makes to predict the next token: {reason[0][:200]}",
            "Choose a decoder-only architecture that transformers knows.",
            code="unsupported-architecture",
        ) from error
    return settings


def _save_tokenizer(folder: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    engine = Tokenizer(models.WordLevel({f"w{i}": i for i in range(_TOKENS)}, unk_token="w0"))  # noqa: S106
    engine.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    engine.save(str(folder / "tokenizer.json"))
