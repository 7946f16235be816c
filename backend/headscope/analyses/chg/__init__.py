"""Causal head gating: which heads a task needs, which harm it, which don't matter [arXiv 2505.13737]."""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.chg.compute import assemble, partial, plan, seeds
from headscope.analyses.chg.estimate import estimate
from headscope.analyses.chg.figures import FIGURES
from headscope.analyses.chg.gates import offered
from headscope.analyses.chg.heads import needed
from headscope.analyses.chg.result import QUANTITIES, ChgResult, headline, retell
from headscope.analyses.chg.schema import PRESETS, ChgParams

CHG = Analysis(
    title="Causal head gating",
    summary="Which heads the task needs, which harm it, and which don't matter.",
    needs=("gating",),
    params=ChgParams,
    result=ChgResult,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    partial=partial,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
    retell=retell,
    gates=offered,
    heads=needed,
    seeds=seeds,
    needs_task=True,
    has_roles=True,
    presets=PRESETS,
)
