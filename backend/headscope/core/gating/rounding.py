"""Whether a fit's gates are a circuit: do heads that are fully open or fully shut do what the gates do?

People switch heads off, not to 0.4. So gates are rounded at 0.5 and scored again on held-out examples. Where
that changes accuracy by more than ``LARGEST`` in a fit, some heads work half open, and a list of needed or
harmful heads doesn't do what the fit did.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

LARGEST: Final = 0.05
"""Of accuracy, in [0, 1]: rounding may change it by as much."""


@dataclass(frozen=True)
class Rounded:
    """Accuracy of one set of gates in each fit that ended, as they are and rounded: [fit], in [0, 1]."""

    soft: Float[np.ndarray, " fit"]
    hard: Float[np.ndarray, " fit"]

    @classmethod
    def of(cls, soft: NDArray[Any], hard: NDArray[Any]) -> Rounded:
        """Of all fits; those without a score are left out."""
        ended = np.isfinite(soft) & np.isfinite(hard)
        return cls(soft[ended].astype(np.float64), hard[ended].astype(np.float64))

    @property
    def change(self) -> Float[np.ndarray, " fit"]:
        """By rounding; below 0 where it costs accuracy."""
        return np.asarray(self.hard - self.soft)

    @property
    def largest(self) -> float:
        """The change of the fit that it changes most; NaN without fits."""
        return float(self.change[np.abs(self.change).argmax()]) if len(self.change) else float("nan")

    @property
    def is_circuit(self) -> bool:
        """Whether rounding changes little in every fit, and so on average."""
        return bool((np.abs(self.change) <= LARGEST).all())
