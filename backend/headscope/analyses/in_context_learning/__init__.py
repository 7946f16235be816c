"""In-context learning: how much less a late token of a text costs than an early one [Olsson et al. 2022]."""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.in_context_learning.compute import assemble, plan
from headscope.analyses.in_context_learning.estimate import estimate
from headscope.analyses.in_context_learning.figures import FIGURES
from headscope.analyses.in_context_learning.result import QUANTITIES, InContextLearningResult, headline
from headscope.analyses.in_context_learning.schema import PRESETS, InContextLearningParams

IN_CONTEXT_LEARNING = Analysis(
    title="In-context learning",
    summary="How much less a late token of natural text costs than an early one, and without which heads "
    "that is lost.",
    needs=("gating",),
    params=InContextLearningParams,
    result=InContextLearningResult,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
    presets=PRESETS,
)
