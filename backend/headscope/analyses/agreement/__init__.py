"""Agreement: which heads matter by gating and by other measures, where they differ, and why."""

from __future__ import annotations

from headscope.analyses.agreement.compute import assemble, estimate, plan, seeds
from headscope.analyses.agreement.figures import FIGURES
from headscope.analyses.agreement.result import QUANTITIES, AgreementResult, headline
from headscope.analyses.agreement.schema import PRESETS, AgreementParams
from headscope.analyses.base import Analysis

AGREEMENT = Analysis(
    title="Agreement",
    summary="Where gating and other measures disagree on which heads matter, and what explains it.",
    needs=("gating",),
    params=AgreementParams,
    result=AgreementResult,
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
