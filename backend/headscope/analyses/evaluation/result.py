"""What an evaluation of gates finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NotRequired, TypedDict

import numpy as np
from jaxtyping import Float

from headscope.analyses.base import Quantity, Result
from headscope.core.gating.verdict import Verdict

WithoutAndWith = Float[np.ndarray, "task 2"]
"""[task, (without the gates, with them)]."""


class Origin(TypedDict):
    """Whose gates they are."""

    id: str
    name: str
    origin: str


class Scored(TypedDict):
    """A task and its held-out rows; ``chance`` is the accuracy of guessing, ``verdict`` without the gates.
    Earlier results don't tell the in-context examples, ``shots``.
    """

    name: str
    title: str
    content_hash: str
    judged: str
    n: int
    n_left_out: int
    shots: NotRequired[int]
    chance: float
    verdict: Verdict
    gates: Origin


@dataclass(frozen=True, kw_only=True, eq=False)
class EvaluationResult(Result):
    """Accuracy in [0, 1], log-probability in nats a target token, and the gates in [0, 1]."""

    NAME: ClassVar[str] = "evaluation"
    VERSION: ClassVar[int] = 1

    accuracy: WithoutAndWith
    log_probability: WithoutAndWith
    gates: Float[np.ndarray, "layer head"]
    tasks: Sequence[Scored]
    notes: Sequence[str]

    @property
    def origin(self) -> Origin:
        """The gates' name and where they come from."""
        return self.tasks[0]["gates"]


QUANTITIES: Mapping[str, Quantity] = {
    "accuracy_ungated": Quantity("Accuracy, ungated", "share"),
    "accuracy_gated": Quantity("Accuracy, gated", "share"),
    "mean_accuracy_ungated": Quantity("Mean accuracy, ungated", "share"),
    "mean_accuracy_gated": Quantity("Mean accuracy, gated", "share"),
    "heads_shut": Quantity("Heads shut", "count"),
}


def headline(result: EvaluationResult, threshold: float = 0.5) -> dict[str, Any]:
    """Accuracy before and after, the mean over tasks where there are several; heads with a gate below 0.5."""
    before, after = (float(value) for value in result.accuracy.mean(axis=0))
    mean = "mean_" if len(result.tasks) > 1 else ""
    shut = int((result.gates < 0.5).sum())
    return {f"{mean}accuracy_ungated": before, f"{mean}accuracy_gated": after, "heads_shut": shut}
