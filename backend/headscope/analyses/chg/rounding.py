"""What a page, a note and the headline say of gates rounded at 0.5 (``core.gating.rounding``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from headscope.core.gating.rounding import Rounded
from headscope.core.statistics.enough import enough, too_few

PUSHED: Final = {"plus": "G+", "minus": "G−"}

ACCURACY: Final = {"plus": 2, "minus": 3}
"""Rows of the held-out scores."""


def rounded(soft: NDArray[Any], hard: NDArray[Any] | None) -> dict[str, Rounded]:
    """By pushed gates, from accuracy [condition, seed] and rounded accuracy [pushed, seed]; empty where
    rounded gates weren't scored.
    """
    if hard is None:
        return {}
    return {name: Rounded.of(soft[row], hard[at]) for at, (name, row) in enumerate(ACCURACY.items())}


def sentence(found: Mapping[str, Rounded], rows: int | None) -> str | None:
    """That these gates aren't a circuit, with the numbers, or that too few held-out rows tell; None where
    they are one, or where it isn't known.
    """
    if found and rows is not None and not enough(rows):
        return too_few(rows, "whether these gates do the same when rounded to open or shut at 0.5")
    broken = {name: one for name, one in found.items() if not one.is_circuit}
    if not broken:
        return None
    parts = [f"{_worst(one)} under {PUSHED[name]}{_mean(one)}" for name, one in broken.items()]
    return (
        f"These gates aren’t a circuit: rounded to open or shut at 0.5, held-out accuracy goes "
        f"{'; '.join(parts)}. Some heads work half open, so switching heads off isn’t what was fitted. "
        "The setting `binarise` adds a last phase that ends with heads open or shut."
    )


def _worst(one: Rounded) -> str:
    at = int(np.abs(one.change).argmax())
    return f"from {_percent(one.soft[at])} to {_percent(one.hard[at])}"


def _mean(one: Rounded) -> str:
    if len(one.soft) == 1:
        return ""
    return (
        f" in the fit that it changes most, from {_percent(one.soft.mean())} to {_percent(one.hard.mean())} "
        "on average"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
