"""What the function vectors find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, UInt8, UInt32

from headscope.analyses.base import Quantity, Result
from headscope.analyses.patch_effects import strongest

ByTask = Float[np.ndarray, " task"]
"""A mean over a task's prompts, without a patch."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FunctionVectorsResult(Result):
    """Effects are rises of the answer's probability; what stands out is ones and zeros.

    ``rise`` is NaN where a task has fewer prompts; ``effect`` is its mean over prompts, ``error`` that mean's
    standard error; ``over_tasks`` is the mean of ``effect``. ``p_`` are probabilities of the first target
    token, ``right_`` the shares of prompts in which it is on top. ``limits`` is what an effect must exceed.
    """

    NAME: ClassVar[str] = "mediation-function-vectors"
    VERSION: ClassVar[int] = 1

    rise: Float[np.ndarray, "task prompt layer head"]
    effect: Float[np.ndarray, "task layer head"]
    error: Float[np.ndarray, "task layer head"]
    significant: UInt8[np.ndarray, "task layer head"]
    over_tasks: Float[np.ndarray, "layer head"]
    over_tasks_significant: UInt8[np.ndarray, "layer head"]
    n_prompts: UInt32[np.ndarray, " task"]
    n_clean: UInt32[np.ndarray, " task"]
    p_clean: ByTask
    right_clean: ByTask
    p_shuffled: ByTask
    right_shuffled: ByTask
    tasks: Sequence[str]
    titles: Sequence[str]
    limits: Sequence[float]
    over_tasks_limit: float
    notes: Sequence[str]


QUANTITIES: Mapping[str, Quantity] = {
    "heads_that_stand_out": Quantity("Heads that stand out", "count"),
    "of_heads": Quantity("Of heads", "count"),
    "strongest_head": Quantity("Strongest head", "head"),
    "its_effect": Quantity("Its average indirect effect"),
    "probability_clean": Quantity("Answer's probability, clean prompts", "share"),
    "probability_shuffled": Quantity("Answer's probability, shuffled labels", "share"),
}


def headline(result: FunctionVectorsResult, threshold: float = 0.5) -> dict[str, Any]:
    """How many heads stand out, the strongest, and the answers' probability without a patch."""
    ((layer, head),) = strongest(result.over_tasks, 1)
    return {
        "heads_that_stand_out": int(result.over_tasks_significant.sum()),
        "of_heads": result.over_tasks.size,
        "strongest_head": f"{layer}.{head}",
        "its_effect": float(result.over_tasks[layer, head]),
        "probability_clean": float(result.p_clean.mean()),
        "probability_shuffled": float(result.p_shuffled.mean()),
    }
