"""What ability finds: how well the model does a task, by the number of in-context examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypedDict

import numpy as np
from jaxtyping import Float, Integer

from headscope.analyses.base import Quantity, Result
from headscope.core.gating.ability import Ability
from headscope.core.statistics.enough import TOO_FEW

Ends = Float[np.ndarray, "shots 2"]
"""[number of in-context examples, (lower, upper)] of a 95 % interval."""


class LeftOut(TypedDict):
    """A number of in-context examples that wasn't tried, and why."""

    shots: int
    why: str


@dataclass(frozen=True, kw_only=True, eq=False)
class AbilityResult(Result):
    """Accuracy in [0, 1] and log-probability, nats a target token, for each number in ``shots``.

    ``chance`` is what guessing the most frequent answer gets, ``uniform`` the log-probability that guessing
    evenly gives every token, -log V. ``auto`` is the number that ``shots=auto`` takes.
    """

    NAME: ClassVar[str] = "ability"
    VERSION: ClassVar[int] = 1

    shots: Integer[np.ndarray, " shots"]
    accuracy: Float[np.ndarray, " shots"]
    accuracy_interval: Ends
    log_probability: Float[np.ndarray, " shots"]
    log_probability_interval: Ends
    chance: Float[np.ndarray, " shots"]
    n_test: Integer[np.ndarray, " shots"]
    n_left_out: Integer[np.ndarray, " shots"]
    auto: int
    uniform: float
    judged: str
    left_out: Sequence[LeftOut]
    notes: Sequence[str]

    @property
    def abilities(self) -> list[Ability]:
        """At each number of in-context examples."""
        return [
            Ability(float(accuracy), int(n), float(chance))
            for accuracy, n, chance in zip(self.accuracy, self.n_test, self.chance, strict=True)
        ]

    @property
    def taken(self) -> int:
        """Where the number that ``shots=auto`` takes stands among ``shots``."""
        return int(np.flatnonzero(self.shots == self.auto)[0])


QUANTITIES: Mapping[str, Quantity] = {
    "best_accuracy": Quantity("Best accuracy", "share"),
    "auto_shots": Quantity("In-context examples to take", "count"),
    "accuracy": Quantity("Accuracy with those", "share"),
    "chance": Quantity("By guessing", "share"),
    "verdict": Quantity("The model"),
}


def headline(result: AbilityResult, threshold: float = 0.5) -> dict[str, Any]:
    """The best accuracy, what ``shots=auto`` takes, and whether the model can do the task so."""
    ability = result.abilities[result.taken]
    return {
        "best_accuracy": float(result.accuracy.max()),
        "auto_shots": result.auto,
        "accuracy": ability.accuracy,
        "chance": ability.chance,
        "verdict": ("can do it" if ability.can_do else "can’t do it") if ability.told else TOO_FEW,
    }
