"""What is left to do on the device once a request was checked, and whether there is room for it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from numpy.typing import NDArray

from headscope.core.arrays import encode
from headscope.core.model.head_model import HeadModel
from headscope.errors import Refused
from headscope.messages import TypedArray

if TYPE_CHECKING:
    from headscope.core.model.replacement import Replacement

Out = TypeVar("Out")


@dataclass(frozen=True)
class Plan(Generic[Out]):
    """``run`` does it, ``n_bytes`` says what it takes beyond the weights for a prompt of so many tokens."""

    n_bytes: Callable[[int], float]
    run: Callable[[], Out]


def admit(plan: Plan[Out], n_tokens: int, free: int) -> None:
    """Raise ``Refused`` (no-room) with both numbers where a plan takes more than is free."""
    needed = plan.n_bytes(n_tokens)
    if needed <= free:
        return
    fits = _longest(plan, n_tokens, free)
    raise Refused(
        f"{n_tokens} tokens would take about {_gigabytes(needed)} of memory; {_gigabytes(free)} are free.",
        f"Shorten the text to {fits} tokens, or try again when a job is done."
        if fits
        else "Try again when a job is done, or use a smaller model.",
        code="no-room",
    )


def _longest(plan: Plan[Out], n_tokens: int, free: int) -> int:
    """The most tokens that fit, fewer than ``n_tokens``."""
    low, high = 0, n_tokens
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if plan.n_bytes(middle) <= free else (low, middle)
    return low


def _gigabytes(count: float) -> str:
    return f"{count / 1e9:.2g} GB"


def gated(
    model: HeadModel, gates: NDArray[Any] | None, inside: Callable[[], Replacement | None] = lambda: None
) -> AbstractContextManager[None]:
    """The model under gates [layer, head], or as it is; ``inside`` gives what closed heads give."""
    import torch

    if gates is None:
        return nullcontext()
    return model.gated(torch.from_numpy(gates).to(model.device), inside())


def typed(array: NDArray[Any]) -> TypedArray:
    """An array as it travels."""
    return cast("TypedArray", encode(array))
