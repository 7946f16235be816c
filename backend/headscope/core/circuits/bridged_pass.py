"""A pass through a model's bridge, step by step, with what passed chosen points of it."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Int


@torch.no_grad()
def bridged_pass(
    bridge: Any, tokens: Int[torch.Tensor, "batch pos"], points: dict[str, Any]
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """The logits of a pass through the bridge, and what passed its hook points, by name."""
    seen: dict[str, torch.Tensor] = {}
    hooks = []
    for name, point in points.items():

        def keep(_: Any, __: Any, out: torch.Tensor, name: str = name) -> None:
            seen[name] = out.detach().clone()

        hooks.append(point.register_forward_hook(keep))
    try:
        out = bridge.original_model(input_ids=tokens, use_cache=False)
    finally:
        for hook in hooks:
            hook.remove()
    return (out if isinstance(out, torch.Tensor) else out.logits), seen
