"""Eigenvalues of every head's OV and QK circuits: what it copies, and what it matches.

[A Mathematical Framework for Transformer Circuits, 2021]
"""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.eigen.compute import assemble, estimate, plan, seeds
from headscope.analyses.eigen.figures import FIGURES
from headscope.analyses.eigen.result import QUANTITIES, EigenResult, headline
from headscope.analyses.eigen.schema import PRESETS, EigenParams

EIGEN = Analysis(
    title="Eigenvalues",
    summary="What every head copies and what it matches, read from the weights.",
    needs=("circuits", "patterns"),
    params=EigenParams,
    presets=PRESETS,
    result=EigenResult,
    seeds=seeds,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
)
