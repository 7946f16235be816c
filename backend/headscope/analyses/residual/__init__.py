"""The residual stream as a channel and a memory: who writes, who reads, who clears what it reads.

[A Mathematical Framework for Transformer Circuits, 2021]
"""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.residual.compute import assemble, estimate, plan
from headscope.analyses.residual.figures import FIGURES
from headscope.analyses.residual.result import QUANTITIES, ResidualResult, headline
from headscope.analyses.residual.schema import ResidualParams

RESIDUAL = Analysis(
    title="Residual stream",
    summary="Who writes to the residual stream, who reads it, and who clears it.",
    needs=("circuits", "patterns"),
    params=ResidualParams,
    result=ResidualResult,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
)
