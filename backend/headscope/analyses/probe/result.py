"""What the probe finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, UInt8

from headscope.analyses.base import Quantity, Result
from headscope.analyses.result import added
from headscope.core.model.info import head_name
from headscope.core.statistics.enough import enough


@dataclass(frozen=True, kw_only=True, eq=False)
class ProbeResult(Result):
    """Held-out accuracies of a linear probe on each head, shares of 1.

    ``control`` is accuracy with shuffled labels, ``selectivity`` accuracy less the controls' mean, ``p``
    corrected for the number of heads; ``significant`` is 1 where that is small enough. ``chance`` is what
    guessing the most frequent held-out label gets; ``shots`` None: the task's own number.
    """

    NAME: ClassVar[str] = "probe"
    VERSION: ClassVar[int] = 1

    accuracy: Float[np.ndarray, "layer head"]
    control: Float[np.ndarray, "seed layer head"]
    selectivity: Float[np.ndarray, "layer head"]
    p: Float[np.ndarray, "layer head"]
    significant: UInt8[np.ndarray, "layer head"]
    labels: Sequence[str]
    train_rows: Sequence[int]
    """Of each label; so are ``test_rows``."""
    test_rows: Sequence[int]
    chance: float
    n_train: int
    n_test: int
    shots: int | None = added()
    notes: Sequence[str]


QUANTITIES: Mapping[str, Quantity] = {
    "best_head": Quantity("Best head", "head"),
    "accuracy": Quantity("Held-out accuracy", "share"),
    "selectivity": Quantity("Selectivity", "share"),
    "chance": Quantity("Chance", "share"),
    "significant_heads": Quantity("Significant heads", "count"),
}


def headline(result: ProbeResult, threshold: float = 0.5) -> dict[str, Any]:
    """The head off which the label is read best, how well, and what guessing gets."""
    best = np.unravel_index(int(result.accuracy.argmax()), result.accuracy.shape)
    return {
        "best_head": head_name(best),
        "accuracy": float(result.accuracy[best]),
        "selectivity": float(result.selectivity[best]),
        "chance": result.chance,
        "significant_heads": int(result.significant.sum()) if enough(result.n_test) else None,
    }
