"""How many key and value heads a model has, as each family says it in config.json. Loads no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def key_value_heads(config: Mapping[str, Any], n_heads: int) -> int:
    """Heads that keys and values are computed for; ``n_heads`` where each query head has its own."""
    kind = config.get("model_type")
    if kind == "falcon" and config.get("new_decoder_architecture"):
        return int(config.get("num_kv_heads") or n_heads)
    if kind in ("falcon", "gpt_bigcode"):
        return 1 if config.get("multi_query", True) else n_heads
    of_attention = config.get("attn_config")  # DBRX
    inner = of_attention.get("kv_n_heads") if isinstance(of_attention, Mapping) else None
    return int(config.get("num_key_value_heads") or inner or n_heads)
