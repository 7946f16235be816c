"""Relatives: what every head is worth to a task, by cheaper measures than causal head gating."""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.relatives.compute import assemble, estimate, plan, seeds
from headscope.analyses.relatives.figures import FIGURES
from headscope.analyses.relatives.result import QUANTITIES, RelativesResult, headline
from headscope.analyses.relatives.schema import PRESETS, RelativesParams

RELATIVES = Analysis(
    title="Effects of each head",
    summary="What every head is worth to a task: leave-one-out, integrated gradients, attribution patching, "
    "head importance and direct logit attribution.",
    needs=("gating",),
    params=RelativesParams,
    result=RelativesResult,
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
