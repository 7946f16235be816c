"""Composition: which later heads read what which earlier heads write [A Mathematical Framework, 2021]."""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.composition.compute import assemble, estimate, plan
from headscope.analyses.composition.figures import FIGURES
from headscope.analyses.composition.result import QUANTITIES, CompositionResult, headline
from headscope.analyses.composition.schema import CompositionParams

COMPOSITION = Analysis(
    title="Composition",
    summary="Which later heads read what which earlier heads write.",
    needs=("circuits",),
    params=CompositionParams,
    result=CompositionResult,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
)
