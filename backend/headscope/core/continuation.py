"""What a model writes next: the most likely token each time, or one drawn at a temperature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Literal

import torch

from headscope.core.model import HeadModel
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
