"""Where the parts of an architecture are, by the names that TransformerLens' adapter gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import nn

from headscope.core.model.info import ModelInfo
from headscope.core.model.usual_names import usual_names
from headscope.errors import Invalid


@dataclass(frozen=True)
class Parts:
    """An architecture's own modules, one per layer where there are several; None where it has none.

    ``projections`` apply W_O. Attention reads the stream through ``entry_norms``. ``attention_norms`` and
    ``mlp_norms`` stand between a layer's output and the stream (Gemma-2, OLMo-2). ``mlps`` are what an MLP's
    output comes out of: its last matrix where it has one, since BLOOM and MPT add the stream within.
    ``factor`` multiplies what a layer writes before it joins the stream (Granite).
    """

    blocks: list[nn.Module]
    attentions: list[nn.Module]
    projections: list[nn.Module]
    entry_norms: list[nn.Module | None]
    attention_norms: list[nn.Module | None]
    mlps: list[nn.Module | None]
    mlp_norms: list[nn.Module | None]
    final_norm: nn.Module | None
    unembedding: nn.Module
    factor: float = 1.0


def locate(module: nn.Module, adapter: Any, info: ModelInfo) -> Parts:
    """The parts of a module tree, by the adapter's names or, without one, by those that architectures mostly
    use. Raises Invalid where a layer has no attention output projection.
    """
    try:
        names: Any = usual_names(module, info) if adapter is None else adapter.component_mapping
        inner = names["blocks"].submodules
        blocks = [module.get_submodule(f"{names['blocks'].name}.{layer}") for layer in range(info.n_layers)]
        attentions = [block.get_submodule(inner["attn"].name) for block in blocks]
        output = inner["attn"].submodules["o"].name
        return Parts(
            blocks=blocks,
            attentions=attentions,
            projections=[attention.get_submodule(output) for attention in attentions],
            entry_norms=[_part(block, inner.get("ln1")) for block in blocks],
            attention_norms=[_part(block, inner.get("ln1_post")) for block in blocks],
            mlps=[_mlp(block, inner.get("mlp")) for block in blocks],
            mlp_norms=[_part(block, inner.get("ln2_post")) for block in blocks],
            final_norm=_part(module, names.get("ln_final")),
            unembedding=module.get_submodule(names["unembed"].name),
            factor=float(getattr(getattr(module, "config", None), "residual_multiplier", None) or 1.0),
        )
    except (KeyError, AttributeError) as error:
        raise Invalid(
            f"{info.architecture} has no attention output projection in every layer.",
            "Choose a model with ordinary attention in every layer.",
            code="unsupported-architecture",
        ) from error


def _mlp(block: nn.Module, component: Any) -> nn.Module | None:
    """The last matrix of a layer's MLP; the whole where it is several, as of experts."""
    whole = _part(block, component)
    if component is None:
        return None
    return _part(whole or block, (component.submodules or {}).get("out")) or whole


def _part(of: nn.Module, component: Any) -> nn.Module | None:
    """None where the adapter has no such part, or this layer hasn't."""
    if component is None or component.name is None:
        return None
    try:
        return of.get_submodule(component.name)
    except AttributeError:
        return None
