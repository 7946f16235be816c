"""Faults of libraries that would give wrong numbers or none, mended on the module.

``mend`` those of transformers, as a model is loaded; ``prepare`` those of TransformerLens, on the twin of the
module whose weights its bridge names.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import nn


def mend(module: nn.Module) -> None:
    """Falcon's eager attention adds the bias by distance once more, though its mask holds it already."""
    for part in module.modules():
        if type(part).__name__ == "FalconAttention":
            part.register_forward_pre_hook(_without_bias, with_kwargs=True)


def prepare(twin: Any) -> None:
    """Lay weights as the bridge reads them: NeoX without attention biases gets zeros, and queries, keys and
    values of Falcon-40B's groups stand together, where the model has each group's beside one another.
    """
    for part in twin.modules():
        name, fused = type(part).__name__, cast("nn.Linear", getattr(part, "query_key_value", None))
        if name == "GPTNeoXAttention" and fused.bias is None:
            fused.bias = nn.Parameter(fused.weight.new_zeros(len(fused.weight)), requires_grad=False)
        elif name == "FalconAttention" and part.new_decoder_architecture:
            for kind in ("weight", "bias"):
                rows = getattr(fused, kind)
                if rows is not None:
                    laid = _ungrouped(rows, part.num_kv_heads, part.head_dim)
                    setattr(fused, kind, nn.Parameter(laid, requires_grad=False))
    if getattr(twin.config, "new_decoder_architecture", False):
        twin.config.multi_query = False  # else the bridge takes all groups for one


def _ungrouped(rows: torch.Tensor, groups: int, d_head: int) -> torch.Tensor:
    """Rows by group, queries before its key and its value, to all queries, all keys, all values."""
    by_group = rows.detach().unflatten(0, (groups, -1, d_head))
    return torch.cat([part.flatten(0, 2) for part in by_group.split([by_group.shape[1] - 2, 1, 1], 1)])


def _without_bias(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Zeros in the place of the bias: without any, the layer would turn queries and keys by rotation."""
    bias = kwargs.get("alibi")
    return args, {**kwargs, "alibi": None if bias is None else torch.zeros_like(bias)}
