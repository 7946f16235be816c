"""What a model writes next: the most likely token each time, or one drawn at a temperature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float

from headscope.core.model.head_model import HeadModel
from headscope.core.model.replacement import Replacement
from headscope.errors import Invalid


@dataclass(frozen=True)
class Continuation:
    """New tokens and why there are no more: as many as asked for, the model ended its text, the context is
    full.

    The token with which a model ends is not among ``ids``.
    """

    ids: list[int]
    stopped: Literal["length", "end", "context"]


def continue_text(
    model: HeadModel,
    ids: Sequence[int],
    n: int,
    temperature: float = 0.0,
    generator: torch.Generator | None = None,
    *,
    within: Callable[[], AbstractContextManager[None]] = nullcontext,
    between: Callable[[], None] = lambda: None,
) -> Continuation:
    """Up to ``n`` tokens after ``ids``; gates act where a ``gated`` context is open.

    ``within`` is opened around each token's pass, ``between`` called after it: a device may be lent there.
    ``temperature`` 0 takes the most likely token. Otherwise tokens are drawn from softmax(logits /
    temperature) by ``generator`` (of the CPU, so that every device draws alike). Raises Invalid for an empty
    or too long prompt, a negative temperature, and a temperature without a generator.
    """
    if not ids:
        raise Invalid("The text has no tokens.", "Write at least one character.", code="empty-text")
    if temperature < 0 or (temperature > 0 and generator is None):
        raise Invalid(
            f"Tokens can't be drawn at temperature {temperature:g} without a generator."
            if temperature > 0
            else f"A temperature of {temperature:g} is below 0.",
            "Give 0 for the most likely token, or a temperature above 0 with a seed.",
            code="bad-temperature",
        )

    def pick(logits: torch.Tensor) -> int:
        if temperature == 0:
            return int(logits.argmax())
        chances = (logits.double().cpu() / temperature).softmax(-1)
        return int(torch.multinomial(chances, 1, generator=generator))

    new: list[int] = []
    following = model.continued(ids, n, pick)
    while True:
        with within():
            token = next(following, None)
        if token is None:
            break
        if token in model.ends:
            return Continuation(new, "end")
        new.append(token)
        between()
    return Continuation(new, "length" if len(new) == n else "context")


def without_and_with(
    model: HeadModel,
    prompt: str,
    gates: Float[np.ndarray, "layer head"],
    n: int,
    temperature: float = 0.0,
    seed: int = 0,
    replacement: Replacement | None = None,
) -> tuple[str, str]:
    """What the model writes after a prompt, ungated and under gates, both drawn from the same seed.

    Closed heads give what ``replacement`` says; nothing without one. Raises what ``continue_text`` does.
    """
    ids, table = model.tokenizer.encode(prompt), torch.from_numpy(gates.copy())

    def written(within: Callable[[], AbstractContextManager[None]]) -> str:
        drawn = torch.Generator().manual_seed(seed)
        found = continue_text(model, ids, n, temperature, drawn, within=within)
        return b"".join(map(model.tokenizer.decode_bytes, found.ids)).decode("utf-8", errors="replace")

    return written(nullcontext), written(lambda: model.gated(table, replacement))
