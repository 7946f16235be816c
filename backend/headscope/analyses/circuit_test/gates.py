"""The circuit as gates, to keep and to try on a prompt."""

from __future__ import annotations

from collections.abc import Sequence

from headscope.analyses.circuit_test.result import CircuitTestResult
from headscope.analyses.offered_gates import AskedGates, GatePreset


def offered(result: CircuitTestResult, asked: AskedGates) -> Sequence[GatePreset]:
    """The circuit's heads open, all others shut."""
    kept = "" if result.faithfulness is None else f": faithfulness {result.faithfulness:.2f}"
    reading = f"{len(result.heads)} of {result.n_heads} heads open, all others shut{kept}."
    return [GatePreset("circuit", "Circuit", reading, result.gates, of_seeds=False)]
