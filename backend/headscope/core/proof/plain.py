"""The plain model: the architecture's own module over the same weights, without any hook of ours but those
here, which are as simple as can be.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import nn

from headscope.core.model.bridge import BridgedModel
from headscope.core.model.hooks import reading_input, reading_output


@dataclass(frozen=True)
class Seen:
    """A pass of the plain model, layer by layer: what attention's own code gave and what went through W_O.

    ``z`` are the heads' mixed values side by side, ``written`` what W_O made of them, ``entered`` what
    attention read. Fused attention shows no ``patterns``.
    """

    logits: Float[torch.Tensor, "batch pos vocab"]
    patterns: tuple[Float[torch.Tensor, "batch head query key"], ...]
    z: list[Float[torch.Tensor, "batch pos width"]]
    written: list[Float[torch.Tensor, "batch pos d_model"]]
    attention: list[Float[torch.Tensor, "batch pos d_model"]]
    entered: list[Float[torch.Tensor, "batch pos d_model"]]


class PlainModel:
    """The architecture built anew over a model's weights, with attention of one kind: sdpa, eager.

    Built, not copied: some architectures decide in their constructor what their attention will do.
    """

    def __init__(self, model: BridgedModel, attention: str) -> None:
        self._eager = attention == "eager"
        self._n_layers, self._n_heads = model.info.n_layers, model.info.n_heads
        self._of_transformers = getattr(model.module, "config", None) is not None
        self.module = _built(model.module, attention) if self._of_transformers else _copied(model.module)
        names = {id(part): name for name, part in model.module.named_modules()}

        def twins(parts: Sequence[nn.Module]) -> list[nn.Module]:
            return [self.module.get_submodule(names[id(part)]) for part in parts]

        self.attentions = twins(model.parts.attentions)
        self.projections = twins(model.parts.projections)

    def run(
        self,
        tokens: Int[torch.Tensor, "batch pos"],
        closed: Bool[torch.Tensor, "batch head"] | None = None,
        **settings: torch.Tensor,
    ) -> Seen:
        """One pass; each row's ``closed`` heads give zero in every layer. ``settings`` go to the module."""
        z: list[torch.Tensor] = []
        written: list[torch.Tensor] = []
        attention: list[torch.Tensor] = []
        weights: list[torch.Tensor] = []
        entered: list[torch.Tensor] = []
        with ExitStack() as hooks:
            for module in self.projections:
                if closed is not None:
                    hooks.enter_context(self._closing(module, closed))
                hooks.enter_context(reading_input(module, z.append))
                hooks.enter_context(reading_output(module, written.append))
            for module in self.attentions:
                hooks.enter_context(reading_input(module, entered.append))
                hooks.enter_context(reading_output(module, attention.append))
                hooks.enter_context(_second(module, weights))
            out: Any = self.module(input_ids=tokens, **self._settings, **settings)
        logits = out if isinstance(out, torch.Tensor) else out.logits
        return Seen(logits, self._patterns(out, weights), z, written, attention, entered)

    @property
    def _settings(self) -> dict[str, bool]:
        return {"use_cache": False, "output_attentions": self._eager} if self._of_transformers else {}

    def _patterns(self, out: Any, weights: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        """Those that the model returns; attention's second output where it returns none."""
        returned = tuple(pattern for pattern in getattr(out, "attentions", None) or () if pattern is not None)
        return returned if len(returned) == self._n_layers else tuple(weights)

    @contextmanager
    def _closing(self, module: nn.Module, closed: torch.Tensor) -> Iterator[None]:
        def close(_: nn.Module, args: tuple[Any, ...]) -> tuple[Any, ...]:
            z = args[0].clone()
            width = z.shape[-1] // self._n_heads
            for row, head in closed.nonzero().tolist():
                z[row, :, head * width : (head + 1) * width] = 0
            return (z, *args[1:])

        handle = module.register_forward_pre_hook(close)
        try:
            yield
        finally:
            handle.remove()


def _built(module: Any, attention: str) -> nn.Module:
    """A module of transformers as its configuration makes it, with the tensors of another one."""
    config = copy.deepcopy(module.config)
    config._attn_implementation = attention
    with torch.device("meta"):  # no memory, and in this thread alone: from_pretrained has effects on all
        twin = type(module)(config)
    of_name = dict(module.named_modules(remove_duplicate=False))
    for name, part in twin.named_modules(remove_duplicate=False):
        own = of_name[name]
        for kind in ("_parameters", "_buffers"):
            vars(part)[kind].update(vars(own)[kind])
        # Tables of rotary angles and the like, which some keep as they are.
        vars(part).update({key: value for key, value in vars(own).items() if isinstance(value, torch.Tensor)})
    evaluated: nn.Module = twin.eval().requires_grad_(False)
    return evaluated


def _copied(module: nn.Module) -> nn.Module:
    """A copy that shares the weights."""
    return copy.deepcopy(module, {id(part): part for part in (*module.parameters(), *module.buffers())})


@contextmanager
def _second(module: nn.Module, into: list[torch.Tensor]) -> Iterator[None]:
    def keep(_: nn.Module, __: Any, out: Any) -> None:
        if isinstance(out, tuple) and len(out) > 1 and isinstance(out[1], torch.Tensor) and out[1].ndim == 4:
            into.append(out[1])

    handle = module.register_forward_hook(keep)
    try:
        yield
    finally:
        handle.remove()
