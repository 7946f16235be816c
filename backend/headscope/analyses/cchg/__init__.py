"""Contrastive gating: heads that the tasks to retain need and the tasks to forget don't get."""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.cchg.assemble import assemble
from headscope.analyses.cchg.estimate import estimate
from headscope.analyses.cchg.figures import FIGURES
from headscope.analyses.cchg.gates import offered
from headscope.analyses.cchg.plan import plan
from headscope.analyses.cchg.result import QUANTITIES, CchgResult, headline
from headscope.analyses.cchg.schema import PRESETS, CchgParams, seeds

CCHG = Analysis(
    title="Contrastive gating",
    summary="Which heads one task, or form of a task, needs and another doesn't.",
    needs=("gating",),
    params=CchgParams,
    result=CchgResult,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
    gates=offered,
    seeds=seeds,
    presets=PRESETS,
)
