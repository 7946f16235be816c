"""Gates that a finished run offers: to try on a prompt, to keep, to write into a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True, eq=False)
class GatePreset:
    """Gates [layer, head] in [0, 1], float32, and what they are in words."""

    name: str
    title: str
    reading: str
    gates: Float[np.ndarray, "layer head"]
    of_seeds: bool = True
    """Whether they are those of a seed, or the mean over seeds."""


@dataclass(frozen=True)
class AskedGates:
    """Of which run, and which of its gates. ``seed`` None is the mean over the seeds that finished.

    ``later`` is what newer runs offer whose gates belong among this run's: heads that suffice.
    """

    run: str = ""
    seed: int | None = None
    threshold: float = 0.5
    later: tuple[GatePreset, ...] = ()
