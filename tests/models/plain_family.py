"""A family's plain model of transformers: its own module, its own eager attention, nothing of ours.

Heads are closed by zeros in the input of W_O, values are seen as transformers' attention function gets them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers

from models.families import Family

Head = tuple[int, int]


@dataclass
class Pass:
    """What one pass showed, layer by layer; ``values`` only where attention is a function of its own."""

    logits: torch.Tensor = field(default_factory=lambda: torch.empty(0))
    patterns: Sequence[torch.Tensor] = ()
    entered: list[torch.Tensor] = field(default_factory=list)
    z: list[torch.Tensor] = field(default_factory=list)
    written: list[torch.Tensor] = field(default_factory=list)
    values: list[torch.Tensor] = field(default_factory=list)


class PlainFamily:
    """Runs one row or several through the plain model."""

    def __init__(self, family: Family, folder: Path) -> None:
        self.dtype = torch.float32 if family.fails_in_float64 else torch.float64
        settings: dict[str, Any] = {"dtype": self.dtype, "attn_implementation": "eager"}
        if family.eager_is_wrong:
            settings["attn_implementation"] = "sdpa"
        self.module = transformers.AutoModelForCausalLM.from_pretrained(folder, **settings).eval()
        if self.module._can_set_experts_implementation():
            self.module.set_experts_implementation("eager")
        self.eager = not family.eager_is_wrong
        self.n_layers = self.module.config.num_hidden_layers
        self.outputs = [
            self.module.get_submodule(family.output.format(layer)) for layer in range(self.n_layers)
        ]
        self.attentions = [
            self.module.get_submodule(family.output.format(layer).rpartition(".")[0])
            for layer in range(self.n_layers)
        ]

    @torch.no_grad()
    def run(self, tokens: torch.Tensor, gates: torch.Tensor | None = None) -> Pass:
        """A pass with each head's z times its gate [layer, head]."""
        seen = Pass()
        with ExitStack() as hooks:
            for layer, (attention, output) in enumerate(zip(self.attentions, self.outputs, strict=True)):
                if gates is not None:
                    hooks.callback(output.register_forward_pre_hook(_scaling(gates[layer])).remove)
                hooks.callback(_before(attention, seen.entered))
                hooks.callback(_before(output, seen.z))
                hooks.callback(
                    output.register_forward_hook(lambda _, __, out: seen.written.append(out.clone())).remove
                )
            hooks.enter_context(_showing_values(self.attentions[0], seen.values))
            shown = {"output_attentions": True} if self.eager else {}
            out = self.module(input_ids=tokens, use_cache=False, **shown)
        seen.logits, seen.patterns = out.logits, getattr(out, "attentions", None) or ()
        return seen


def _scaling(gate: torch.Tensor) -> Callable[..., Any]:
    def scale(_: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
        width = args[0].shape[-1] // len(gate)
        return (args[0] * gate.repeat_interleave(width).to(args[0]), *args[1:])

    return scale


def _before(module: torch.nn.Module, into: list[torch.Tensor]) -> Callable[[], None]:
    def keep(_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        into.append((args[0] if args else kwargs["hidden_states"]).clone())

    return module.register_forward_pre_hook(keep, with_kwargs=True).remove


@contextmanager
def _showing_values(attention: torch.nn.Module, into: list[torch.Tensor]) -> Iterator[None]:
    """Keep the values [batch, group, key, d_head] that transformers' eager attention function is given."""
    names = vars(sys.modules[type(attention).__module__])
    usual = names.get("eager_attention_forward")

    def shown(module: Any, query: Any, key: Any, value: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        into.append(value.clone())
        return usual(module, query, key, value, *args, **kwargs)  # type: ignore[misc]

    if usual is not None:
        names["eager_attention_forward"] = shown
    try:
        yield
    finally:
        if usual is not None:
            names["eager_attention_forward"] = usual
