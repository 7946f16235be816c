"""What a head gives where its gate is closed, by name. Loads no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

Ablation = Literal["zero", "mean", "resample", "counterfactual"]

ABLATIONS: Final[Mapping[Ablation, str]] = {
    "zero": "nothing",
    "mean": "its mean over other rows of the task at the same distance from the end",
    "resample": "what it gives in another row of the task, drawn anew for each use",
    "counterfactual": "what it gives in the row's paired prompt",
}
"""In words that go on from "a head that is switched off gives"."""

REFERENCE_ROWS: Final = 256
"""Training rows, at most, that means are taken over and other rows drawn from: the split's first."""


def told(ablation: str) -> str:
    """How a page names what was done to closed heads, after "by": "zero ablation"."""
    return f"{ablation} ablation"
