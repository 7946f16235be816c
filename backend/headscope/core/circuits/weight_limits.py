"""What circuits read from a model's weights leave out, in words."""

from __future__ import annotations

import re
from typing import Any

from torch import nn

from headscope.core.model.norms import original

_QUERY_NORM = re.compile("(q|k|qk|query|key)_(norm|layernorm)")


def norms_queries(attention: nn.Module) -> bool:
    """Whether queries or keys pass a norm of their own within a layer's attention."""
    return any(_QUERY_NORM.fullmatch(name) for name, _ in attention.named_children())


def clip_limit(clip: float) -> str:
    """What numbers leave out where queries, keys and values are cut."""
    return (
        f"Queries, keys and values beyond ±{clip:g} are cut there, which no weight shows: those of heads "
        "that reach so far come out too large."
    )


def clipped_at(config: Any) -> float | None:
    """Where a configuration cuts queries, keys and values (OLMo, MPT, DBRX), None where it doesn't."""
    for place in (config, getattr(config, "attn_config", None)):
        clip = getattr(place, "clip_qkv", None)
        if clip:
            return float(clip)
    return None


def limits(bridge: Any) -> list[str]:
    """What numbers from the weights of this model leave out, a plain sentence each."""
    cfg, first = bridge.cfg, bridge.blocks[0]
    found = []
    if cfg.positional_embedding_type == "rotary":
        found.append(
            "Rotary positions turn queries and keys by their distance: QK numbers are position-free, as if "
            "query and key stood at the same place."
        )
    elif hasattr(bridge, "pos_embed"):
        found.append(
            "Learned positions are added to the tokens: what a head attends to by position is not in the QK "
            "numbers."
        )
    if norms_queries(original(first.attn)):
        found.append("Queries and keys pass a norm of their own, which QK numbers leave out.")
    clip = clipped_at(getattr(getattr(bridge, "original_model", None), "config", None))
    if clip is not None:
        found.append(clip_limit(clip))
    if getattr(original(first.attn), "sinks", None) is not None:
        found.append("A learned sink takes part of each row of a pattern, which QK numbers leave out.")
    found.extend(_windows(bridge))
    if (cfg.attn_scores_soft_cap or -1) > 0:
        found.append(
            f"Attention scores are capped at ±{cfg.attn_scores_soft_cap:g}; QK numbers are uncapped."
        )
    if (cfg.output_logits_soft_cap or -1) > 0:
        found.append(f"Logits are capped at ±{cfg.output_logits_soft_cap:g}; the numbers here are uncapped.")
    if "ln1_post" in first.submodules:
        found.append(
            "A norm follows attention: a head's output is scaled by a number that all heads of its layer "
            "decide."
        )
    if "ln1" not in first.submodules:
        found.append("Nothing is normalised before attention reads the stream.")
    if "mlp" in first.submodules:
        found.append(
            "MLPs change what later heads read: numbers between heads, tokens and logits are direct paths "
            "only."
        )
    return found


def _windows(bridge: Any) -> list[str]:
    """A sentence for each width of the windows that some layers see through."""
    layers: dict[int, list[str]] = {}
    for layer, block in enumerate(bridge.blocks):
        width = getattr(original(block.attn), "sliding_window", None) if "attn" in block.submodules else None
        if isinstance(width, int):
            layers.setdefault(width, []).append(str(layer))
    return [
        ("Layer {} sees" if len(numbers) == 1 else "Layers {} see").format(", ".join(numbers))
        + f" the last {width:,} tokens only, which QK numbers leave out."
        for width, numbers in layers.items()
    ]
