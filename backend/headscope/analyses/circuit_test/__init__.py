"""Circuit test: is a set of heads what does a task? Faithfulness over sizes, and five tests of the set."""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.circuit_test.compute import assemble, estimate, plan, seeds
from headscope.analyses.circuit_test.figures import FIGURES
from headscope.analyses.circuit_test.gates import offered
from headscope.analyses.circuit_test.result import QUANTITIES, CircuitTestResult, headline
from headscope.analyses.circuit_test.schema import PRESETS, CircuitTestParams

CIRCUIT_TEST = Analysis(
    title="Test a circuit",
    summary="Whether a set of heads does a task by itself: faithfulness, completeness, minimality and tests "
    "against random circuits.",
    needs=("gating",),
    params=CircuitTestParams,
    result=CircuitTestResult,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
    gates=offered,
    heads=lambda result, view: result.places,
    seeds=seeds,
    needs_task=True,
    presets=PRESETS,
)
