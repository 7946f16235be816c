"""Attention patterns of a prompt: exact floats, or quantised for pictures."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from headscope.core.model.head_model import HeadModel
from headscope.core.model.memory import AT_MOST, pass_bytes
from headscope.errors import Invalid, TooLarge
from headscope.messages import PatternsIn, PatternsOut, TopKeys, TypedArray
from headscope.worker.lab.plan import Plan, typed
from headscope.worker.lab.prompt import Prompt

if TYPE_CHECKING:
    import torch

Reduced = TypeVar("Reduced")

MOST_PATTERN_BYTES = 64 * 2**20
"""An answer's patterns: 30 layers of 9 heads over 240 tokens as floats."""

MOST_TRIANGLE_BYTES: Final = 4 * 2**20
"""Beyond it a compact answer has each row's largest keys only; a layer of 9 heads is whole up to 960 tokens.
"""

TOP_KEYS: Final = 32
"""Of each row; they hold nearly all of the mass in most heads, and ``rest`` says how much they don't."""


class _Enough(Exception):
    """Ends a pass: all was read that was asked for."""


def plan(model: HeadModel, prompt: Prompt, wanted: PatternsIn) -> Plan[PatternsOut]:
    """Patterns [layer, head, query, key]; each row sums to 1, with the share of a learned sink where there is
    one.

    Raises ``Invalid`` for layers that aren't there, ``TooLarge`` (patterns-too-large) beyond 64 MiB.
    """
    layers = _layers(model, wanted.layers)
    n, heads = len(prompt), len(layers) * model.info.n_heads
    triangle = heads * n * (n + 1) // 2
    whole = not wanted.compact or triangle <= MOST_TRIANGLE_BYTES
    size = triangle if wanted.compact and whole else 4 * heads * n**2 if whole else heads * n * 3 * TOP_KEYS
    if size > MOST_PATTERN_BYTES:
        raise TooLarge(
            f"The patterns of {len(layers)} layers over {n} tokens take {size / 2**20:.0f} MiB; an answer "
            f"may have {MOST_PATTERN_BYTES / 2**20:.0f}.",
            "Ask for fewer layers, or a shorter text.",
            code="patterns-too-large",
        )

    def run() -> PatternsOut:
        from headscope.core.patterns.reading import has_sinks

        answer = PatternsOut(model=model.info.name, tokens=prompt.out, layers=list(layers))
        sinks: list[NDArray[Any]] | None = [] if has_sinks(model) and not wanted.weighted else None
        read = _Reader(model, prompt, layers, wanted.weighted, sinks)
        if not wanted.compact:
            answer.patterns = _floats(read)
        elif whole:
            answer.triangle = _triangle(read)
        else:
            answer.top = _top(read)
        answer.sinks = _stacked(sinks) if sinks else None
        return answer

    return Plan(lambda n: pass_bytes(model.info, n, AT_MOST, logits=1) + size, run)


def _floats(read: _Reader) -> TypedArray:
    return _stacked(read(lambda pattern: pattern.float().cpu().numpy()))


def _triangle(read: _Reader) -> TypedArray:
    from headscope.core.patterns.reading import pack

    return _stacked(read(lambda pattern: pack(pattern).cpu().numpy()))


def _top(read: _Reader) -> TopKeys:
    from headscope.core.patterns.reading import top_keys

    rows = read(lambda pattern: top_keys(pattern, TOP_KEYS))
    return TopKeys(
        keys=_stacked([row.keys for row in rows]),
        weights=_stacked([row.weights for row in rows]),
        rest=_stacked([row.rest for row in rows]),
    )


@dataclass(frozen=True)
class _Reader:
    """One prompt's patterns. ``sinks`` collects the shares of each layer's sink [head, query], if wanted."""

    model: HeadModel
    prompt: Prompt
    layers: tuple[int, ...]
    weighted: bool
    sinks: list[NDArray[Any]] | None

    def __call__(self, reduce: Callable[[torch.Tensor], Reduced]) -> list[Reduced]:
        """What each layer's pattern [head, query, key] reduces to, in the order asked for.

        The pass ends at the last of them: nothing after it is wanted.
        """
        import torch

        from headscope.core.patterns.reading import sink_shares, weigh

        model, found, taken = self.model, dict[int, Reduced](), dict[int, NDArray[Any]]()

        def visit(layer: int, pattern: torch.Tensor, norms: torch.Tensor | None) -> None:
            found[layer] = reduce(pattern[0] if norms is None else weigh(pattern[0], norms[0]))
            if self.sinks is not None:
                taken[layer] = sink_shares(pattern[0]).cpu().numpy()
            if len(found) == len(self.layers):
                raise _Enough

        ids = self.prompt.batch(model)
        with suppress(_Enough), torch.no_grad(), model.reading(visit, self.layers, values=self.weighted):
            model.logits_at(ids, torch.tensor([[0, len(self.prompt) - 1]], device=model.device))
        if self.sinks is not None:
            self.sinks.extend(taken[layer] for layer in self.layers)
        return [found[layer] for layer in self.layers]


def _stacked(arrays: list[NDArray[Any]]) -> TypedArray:
    return typed(np.stack(arrays))


def _layers(model: HeadModel, wanted: list[int] | None) -> tuple[int, ...]:
    there = range(model.info.n_layers)
    for layer in wanted or ():
        if layer not in there:
            raise Invalid(
                f"There is no layer {layer} of {model.info.n_layers}.",
                f"Layers run 0-{model.info.n_layers - 1}.",
                code="unknown-layer",
            )
    if wanted == []:
        raise Invalid("No layers were asked for.", "Name some, or leave `layers` out.", code="unknown-layer")
    return tuple(there) if wanted is None else tuple(dict.fromkeys(wanted))
