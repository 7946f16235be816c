"""Battery: what every head does over a batch of prompts, and in which of them most."""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.battery.compute import assemble, estimate, plan, seeds
from headscope.analyses.battery.figures import FIGURES
from headscope.analyses.battery.result import QUANTITIES, BatteryResult, headline
from headscope.analyses.battery.schema import BatteryParams

BATTERY = Analysis(
    title="Battery of prompts",
    summary="What every head does over a batch of your prompts, and where most. One pass: no randomness.",
    needs=("patterns", "gating"),
    params=BatteryParams,
    result=BatteryResult,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
    seeds=seeds,
)
