"""Whether a model can do a task at all: accuracy without gates, by the number of in-context examples."""

from __future__ import annotations

from headscope.analyses.ability.compute import assemble, estimate, plan
from headscope.analyses.ability.figures import FIGURES
from headscope.analyses.ability.result import QUANTITIES, AbilityResult, headline
from headscope.analyses.ability.schema import PRESETS, AbilityParams
from headscope.analyses.base import Analysis

ABILITY = Analysis(
    title="Ability",
    summary="Whether the model can do the task at all, and with how many in-context examples.",
    params=AbilityParams,
    result=AbilityResult,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
    needs_task=True,
    presets=PRESETS,
)
