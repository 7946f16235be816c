"""Meaning: names of heads by evidence from finished runs, and how they go together with roles."""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.meaning.compute import assemble, estimate, plan, seeds
from headscope.analyses.meaning.figures import FIGURES
from headscope.analyses.meaning.result import QUANTITIES, MeaningResult, headline
from headscope.analyses.meaning.schema import PRESETS, MeaningParams

MEANING = Analysis(
    title="Meaning",
    summary="What each head does, by name, from what was measured; and what the needed heads do.",
    params=MeaningParams,
    result=MeaningResult,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
    seeds=seeds,
    presets=PRESETS,
)
