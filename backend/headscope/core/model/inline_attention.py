"""Attention whose softmax and product with the values stand in its own ``forward``: no function to look up.

While ``meeting`` is open a layer's forward runs under a torch function mode. The first softmax in it makes
the pattern; the next matrix product whose left side is as large mixes the values by it, and gets what ``met``
makes of the pattern. All else is the architecture's own: biases by distance, masks, windows and scales.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from headscope.errors import Refused

Met = Callable[[nn.Module, torch.Tensor, torch.Tensor], torch.Tensor]
"""Called with the module, its pattern [batch, head, query, key] and values [batch, group, key, d_head]; what
it returns is mixed by."""

_SOFTMAX = (nn.functional.softmax, torch.softmax, torch.Tensor.softmax)
_PRODUCTS = (torch.matmul, torch.bmm, torch.Tensor.matmul, torch.Tensor.bmm, torch.Tensor.__matmul__)


@contextmanager
def meeting(module: nn.Module, met: Met) -> Iterator[None]:
    """Meet the patterns of this layer's passes. Raises Refused in a pass that makes none in this way."""
    usual = module.forward

    def forward(*args: Any, **kwargs: Any) -> Any:
        stream = next(value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor))
        with _Between(module, met, len(stream)) as between:
            out = usual(*args, **kwargs)
        if not between.done:
            raise Refused(
                f"{type(module).__name__} shows no attention pattern.",
                "Gates and what is measured by them still apply.",
                code="no-patterns",
            )
        return out

    module.forward = forward
    try:
        yield
    finally:
        del module.forward


class _Between(TorchFunctionMode):
    """What happens between one layer's softmax and its product with the values."""

    def __init__(self, module: nn.Module, met: Met, batch: int) -> None:
        super().__init__()
        self.module, self.met, self.batch = module, met, batch
        self.cells, self.done = 0, False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if self.cells and func in _PRODUCTS and args[0].numel() == self.cells:
            args = (self._met(args[0], args[1]), *args[1:])
        out = func(*args, **(kwargs or {}))
        if not self.done and func in _SOFTMAX:
            self.cells = out.numel()
        return out

    def _met(self, weights: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """Some architectures lay batch and heads in one axis."""
        self.cells, self.done = 0, True
        pattern = weights.view(self.batch, -1, *weights.shape[-2:])
        changed = self.met(self.module, pattern, value.view(self.batch, -1, *value.shape[-2:]))
        return weights if changed is pattern else changed.to(weights).reshape(weights.shape).contiguous()
