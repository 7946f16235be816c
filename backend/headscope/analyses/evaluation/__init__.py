"""Kept gates evaluated on any tasks: accuracy and log-probability on held-out rows, without and with them."""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.evaluation.compute import assemble, estimate, plan
from headscope.analyses.evaluation.figures import FIGURES
from headscope.analyses.evaluation.result import QUANTITIES, EvaluationResult, headline
from headscope.analyses.evaluation.schema import PRESETS, EvaluationParams

EVALUATION = Analysis(
    title="Gates on tasks",
    summary="How well the model does tasks without and with some gates, on held-out rows.",
    needs=("gating",),
    params=EvaluationParams,
    result=EvaluationResult,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
    presets=PRESETS,
)
