"""Sufficiency: the fewest heads that keep the task, opened from all closed in the order of a gating run."""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.sufficiency.compute import assemble, estimate, plan, seeds
from headscope.analyses.sufficiency.figures import FIGURES
from headscope.analyses.sufficiency.gates import offered, opened
from headscope.analyses.sufficiency.result import QUANTITIES, SufficiencyResult, headline
from headscope.analyses.sufficiency.schema import PRESETS, SufficiencyParams

SUFFICIENCY = Analysis(
    title="Sufficient heads",
    summary="The fewest heads that keep the task, all others closed.",
    needs=("gating",),
    params=SufficiencyParams,
    result=SufficiencyResult,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
    gates=offered,
    heads=opened,
    gates_belong_to="run",
    seeds=seeds,
    needs_task=True,
    presets=PRESETS,
)
