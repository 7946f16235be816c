"""What a circuit test finds: faithfulness over sizes, and what each test says of the circuit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float, Integer

from headscope.analyses.base import Quantity, Result
from headscope.analyses.circuit_test.circuit import RANKINGS
from headscope.core.model.head_list import Head

OUTCOMES = ("shown", "refuted", "open")
"""What a test may come to; open where it could tell neither."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CircuitTestResult(Result):
    """Faithfulness (``curve``, ``random_curve``, ``at_size``, ``subset_...``) is a share of the model's gain
    over itself with every head replaced; NaN where there is none. All else is in the metric's unit, nats or
    logits, higher is better: means of ``random`` circuits and of the model without them, what knocking out
    each member costs, and what it costs to remove each head that ``inflated`` the circuit.

    ``tests`` are mappings with name, title, statistic, value, p (None where it is no test), outcome (one of
    ``OUTCOMES``) and a verdict in words. ``score`` is what each of ``rankings`` ranks by.
    """

    NAME: ClassVar[str] = "circuit-test"
    VERSION: ClassVar[int] = 1

    heads: Integer[np.ndarray, "member 2"]
    kept_heads: Integer[np.ndarray, " size"]
    curve: Float[np.ndarray, "ranking size"]
    random_curve: Float[np.ndarray, "order size"]
    cpr: Float[np.ndarray, " ranking"]
    cmd: Float[np.ndarray, " ranking"]
    random_cpr: Float[np.ndarray, " order"]
    random_cmd: Float[np.ndarray, " order"]
    at_size: Float[np.ndarray, " ranking"]
    score: Float[np.ndarray, "ranking layer head"]
    random: Float[np.ndarray, " circuit"]
    random_without: Float[np.ndarray, " circuit"]
    subset_kept: Float[np.ndarray, " subset"]
    subset_whole: Float[np.ndarray, " subset"]
    subset_size: Integer[np.ndarray, " subset"]
    loss: Float[np.ndarray, " member"]
    loss_p: Float[np.ndarray, " member"]
    inflated: Float[np.ndarray, " other"]
    inflated_heads: Integer[np.ndarray, "other 2"]
    example_model: Float[np.ndarray, " example"]
    example_circuit: Float[np.ndarray, " example"]
    example_without: Float[np.ndarray, " example"]
    rankings: Sequence[str]
    n_heads: int
    n_test: int
    score_none: float
    score_all: float
    score_circuit: float
    score_without: float
    score_chance: float
    faithfulness: float | None
    tests: Sequence[Mapping[str, Any]]
    notes: Sequence[str]

    @property
    def places(self) -> tuple[Head, ...]:
        """The circuit's heads as (layer, head)."""
        return tuple((layer, head) for layer, head in self.heads.tolist())

    @property
    def gates(self) -> Float[np.ndarray, "layer head"]:
        """1 for the circuit's heads, 0 for all others."""
        gates = np.zeros((self.model.n_layers, self.model.n_heads), np.float32)
        gates[tuple(self.heads.T.astype(int))] = 1
        return gates

    @property
    def unit(self) -> str:
        """Of the metric."""
        return "logits" if self.params["metric"] == "logit_difference" else "nats"

    def share(self, score: Any) -> Any:
        """A score of the metric as faithfulness; NaN where the model gains nothing."""
        gain = self.score_all - self.score_none
        return (score - self.score_none) / (gain if gain > 0 else np.nan)

    def judged(self, tests: Sequence[Mapping[str, Any]]) -> CircuitTestResult:
        """The result with its tests."""
        return replace(self, tests=tests)


QUANTITIES: Mapping[str, Quantity] = {
    "heads": Quantity("Heads of the circuit", "count"),
    "of_heads": Quantity("Heads in all", "count"),
    "faithfulness": Quantity("Faithfulness of the circuit", "share"),
    "ranking": Quantity("Ranking that CPR and CMD are of"),
    "cpr": Quantity("CPR, area under faithfulness"),
    "cmd": Quantity("CMD, distance from the model"),
    "cmd_random": Quantity("CMD of random rankings, mean"),
    "tests_shown": Quantity("Tests that show what they ask", "count"),
    "tests_refuted": Quantity("Tests that refute the circuit", "count"),
    "tests": Quantity("Tests in all", "count"),
}


def headline(result: CircuitTestResult, threshold: float = 0.5) -> dict[str, Any]:
    """The circuit's size and faithfulness, areas of the first ranking there is, tests by outcome."""
    outcomes = [test["outcome"] for test in result.tests if test["p"] is not None]
    numbers: dict[str, Any] = {
        "heads": len(result.heads),
        "of_heads": result.n_heads,
        "faithfulness": result.faithfulness,
    }
    if result.rankings:
        numbers["ranking"] = RANKINGS[result.rankings[0]]
        numbers |= {"cpr": _number(result.cpr[0]), "cmd": _number(result.cmd[0])}
    return numbers | {
        "cmd_random": _number(result.random_cmd.mean()),
        "tests_shown": outcomes.count("shown"),
        "tests_refuted": outcomes.count("refuted"),
        "tests": len(outcomes),
    }


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None
