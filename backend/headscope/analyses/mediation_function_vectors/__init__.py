"""Function vectors: heads whose mean output at the last token brings a task back into shuffled prompts."""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.mediation_function_vectors.assemble import assemble
from headscope.analyses.mediation_function_vectors.estimate import estimate
from headscope.analyses.mediation_function_vectors.figures import FIGURES
from headscope.analyses.mediation_function_vectors.plan import plan
from headscope.analyses.mediation_function_vectors.result import (
    QUANTITIES,
    FunctionVectorsResult,
    headline,
)
from headscope.analyses.mediation_function_vectors.schema import PRESETS, FunctionVectorParams, seeds

FUNCTION_VECTORS = Analysis(
    title="Causal mediation: function vectors",
    summary="Heads that bring a task's answer back where the examples' labels are shuffled.",
    needs=("gating",),
    params=FunctionVectorParams,
    result=FunctionVectorsResult,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
    seeds=seeds,
    needs_task=True,
    presets=PRESETS,
)
