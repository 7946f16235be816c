"""How heads score on random tokens that repeat, measured once for each model that is asked about."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float32

from headscope.core.model.head_model import HeadModel
from headscope.core.patterns.repeat_scores import repeat_scores

Scores = Float32[np.ndarray, "score layer head"]


@dataclass
class RepeatScores:
    """Of each model, by its revision; only whoever holds the device may use it."""

    _kept: dict[tuple[str, str], Scores | None] = field(default_factory=dict)

    def __call__(self, model: HeadModel) -> Scores | None:
        """In the order of ``core.patterns.scores.ABOVE``; None where the model has too short a context."""
        key = (model.info.name, model.info.revision)
        if key not in self._kept:
            self._kept[key] = repeat_scores(model)
        return self._kept[key]
