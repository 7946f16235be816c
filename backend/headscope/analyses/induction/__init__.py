"""Induction: what every head does on random tokens that repeat [Olsson et al. 2022]."""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.induction.compute import assemble, plan, seeds
from headscope.analyses.induction.estimate import estimate
from headscope.analyses.induction.figures import FIGURES
from headscope.analyses.induction.result import QUANTITIES, InductionResult, headline
from headscope.analyses.induction.schema import PRESETS, InductionParams

INDUCTION = Analysis(
    title="Induction",
    summary="What every head does on random tokens that repeat, and what the repeat costs without it.",
    needs=("patterns", "gating"),
    params=InductionParams,
    result=InductionResult,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
    seeds=seeds,
    presets=PRESETS,
)
