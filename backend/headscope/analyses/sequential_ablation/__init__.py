"""Sequential ablation: heads removed one after another, in the order of a gating run's scores."""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.sequential_ablation.compute import assemble, estimate, plan
from headscope.analyses.sequential_ablation.figures import FIGURES
from headscope.analyses.sequential_ablation.result import (
    QUANTITIES,
    SequentialAblationResult,
    headline,
)
from headscope.analyses.sequential_ablation.schema import PRESETS, SequentialAblationParams

SEQUENTIAL_ABLATION = Analysis(
    title="Sequential ablation",
    summary="Are the scores causal? Heads closed one after another, the highest score first.",
    needs=("gating",),
    params=SequentialAblationParams,
    result=SequentialAblationResult,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
    needs_task=True,
    presets=PRESETS,
)
