"""Paths: a logit on a prompt as a sum over the ways through the heads.

[A Mathematical Framework for Transformer Circuits, 2021]
"""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.paths.compute import assemble, estimate, plan, seeds
from headscope.analyses.paths.figures import FIGURES
from headscope.analyses.paths.result import QUANTITIES, PathsResult, headline
from headscope.analyses.paths.schema import PRESETS, PathsParams

PATHS = Analysis(
    title="Paths",
    summary="A logit as a sum over the ways through the heads, and how much each way matters.",
    needs=("circuits", "patterns"),
    params=PathsParams,
    presets=PRESETS,
    result=PathsResult,
    seeds=seeds,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
)
