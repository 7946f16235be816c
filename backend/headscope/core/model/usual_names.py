"""Where parts are in an architecture that TransformerLens has no adapter for, by the names most of them use.

Nothing is taken on trust: heads are proved to reach their projection, and attribution refuses parts that
don't sum to the logit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch import nn

from headscope.core.model.info import ModelInfo

_ATTENTIONS = (
    "self_attn",
    "self_attention",
    "attention",
    "attn",
    "multi_head_attention",
    "norm_attn_norm.attn",
)
_OUTPUTS = ("o_proj", "out_proj", "c_proj", "dense")
_MLPS = ("mlp", "feed_forward", "block_sparse_moe", "ffn", "fc2")
_LAST = ("down_proj", "dense_4h_to_h", "c_proj", "fc2", "fc_out")
_ENTRY_NORMS = ("input_layernorm", "self_attn_layer_norm", "ln_1", "layernorm1", "norm_attn_norm.norm_1")
_FINAL_NORMS = ("norm", "final_layernorm", "final_layer_norm", "layer_norm", "layernorm", "ln_f", "norm_f")


@dataclass(frozen=True)
class Named:
    """A part, as an adapter of TransformerLens names one."""

    name: str | None
    submodules: Mapping[str, Named] = field(default_factory=dict)


def usual_names(module: nn.Module, info: ModelInfo) -> dict[str, Named]:
    """Components by TransformerLens' names. Raises KeyError where there are no layers of attention."""
    path, blocks = _blocks(module, info.n_layers)
    first = blocks[0]
    attention = _first(first, _ATTENTIONS)
    inner = {"attn": Named(attention, {"o": Named(_first(first.get_submodule(attention), _OUTPUTS))})}
    for name, names in (("mlp", _MLPS), ("ln1", _ENTRY_NORMS)):
        found = [there for there in names if _has(first, there)]
        if found:
            last = [Named(there) for there in _LAST if _has(first, f"{found[0]}.{there}")]
            inner[name] = Named(found[0], {"out": last[0]} if last else {})
    parent = module.get_submodule(path.rpartition(".")[0])
    final = [there for there in _FINAL_NORMS if _has(parent, there)]
    prefix = path.rpartition(".")[0]
    return {
        "blocks": Named(path, inner),
        "ln_final": Named(".".join(filter(None, (prefix, final[0]))) if final else None),
        "unembed": Named(_path(module, module.get_output_embeddings())),  # type: ignore[operator]
    }


def _blocks(module: nn.Module, n_layers: int) -> tuple[str, nn.ModuleList]:
    for path, part in module.named_modules():
        if (
            isinstance(part, nn.ModuleList)
            and len(part) == n_layers
            and any(_has(part[0], name) for name in _ATTENTIONS)
        ):
            return path, part
    raise KeyError("blocks")


def _has(module: nn.Module, path: str) -> bool:
    try:
        module.get_submodule(path)
    except AttributeError:
        return False
    return True


def _first(module: nn.Module, names: Sequence[str]) -> str:
    for name in names:
        if _has(module, name):
            return name
    raise KeyError(names[0])


def _path(module: nn.Module, part: nn.Module | None) -> str:
    return next((path for path, other in module.named_modules() if other is part), "")
