"""What the eigenvalue analysis finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Int16

from headscope.analyses.base import Quantity, Result
from headscope.analyses.result import by_name
from headscope.core.model.info import head_name

SPECTRA = ("ov", "qk", "qk_best", "qk_all", "qk_offset")
"""OV; QK by itself, through the best previous-token head, through all earlier heads, and at a distance."""

HeadScores = Float[np.ndarray, "layer head"]
DrawnScores = Float[np.ndarray, "draw layer head"]


@dataclass(frozen=True, kw_only=True, eq=False)
class EigenResult(Result):
    """Every head's ``SPECTRA`` and their positivity in [-1, 1]; scores on repeated tokens.

    A spectrum has real and imaginary parts, the largest modulus first; ``qk_offset`` is of models with rotary
    positions. ``best_previous`` is the previous-token head (layer, head) before each layer, -1 for none, by
    what is above the columns' level (``core.patterns.above``), which earlier results lack.
    """

    NAME: ClassVar[str] = "eigen"
    VERSION: ClassVar[int] = 1

    spectra: Mapping[str, Float[np.ndarray, "layer head d_head 2"]] = by_name("{}", SPECTRA)
    positivity: Mapping[str, HeadScores] = by_name("{}_positivity", SPECTRA)
    best_previous: Int16[np.ndarray, "layer 2"]
    induction: DrawnScores
    previous: DrawnScores
    current: DrawnScores
    induction_above: DrawnScores | None = None
    previous_above: DrawnScores | None = None
    limits: Sequence[str]
    notes: Sequence[str]

    def named_by(self, name: str) -> DrawnScores:
        """Above the columns' level where that is known."""
        return self.arrays.get(f"{name}_above", self.arrays[name])

    @property
    def most_copying(self) -> tuple[int, int]:
        """The head with the highest OV positivity."""
        return _highest(np.nan_to_num(self.positivity["ov"], nan=-2))


QUANTITIES: Mapping[str, Quantity] = {
    "most_copying_head": Quantity("Head that copies most", "head"),
    "most_copying_score": Quantity("Highest OV positivity"),
    "copying_heads": Quantity("Copying heads", "count"),
    "previous_token_head": Quantity("Best previous-token head", "head"),
    "heads_that_copy_and_match": Quantity("Heads that copy and match", "count"),
}


def headline(result: EigenResult, threshold: float = 0.5) -> dict[str, Any]:
    """The head that copies most, the best previous-token head, and the heads that look like induction."""
    ov = result.positivity["ov"]
    corner = (ov > 0.5) & (result.positivity["qk_best"] > 0.5)
    return {
        "most_copying_head": head_name(result.most_copying),
        "most_copying_score": float(ov[result.most_copying]),
        "copying_heads": int((ov > 0.5).sum()),
        "previous_token_head": head_name(_highest(result.named_by("previous").mean(axis=0))),
        "heads_that_copy_and_match": int(corner.sum()),
    }


def _highest(scores: HeadScores) -> tuple[int, int]:
    layer, head = np.unravel_index(int(scores.argmax()), scores.shape)
    return int(layer), int(head)
