"""Probe: whether a task's label can be read off what each head mixed [Hewitt and Liang 2019]."""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.probe.compute import assemble, estimate, plan, seeds
from headscope.analyses.probe.figures import FIGURES
from headscope.analyses.probe.result import QUANTITIES, ProbeResult, headline
from headscope.analyses.probe.schema import PRESETS, ProbeParams

PROBE = Analysis(
    title="Probe",
    summary="Whether a task's label can be read off what each head mixed, better than a shuffled label.",
    needs=("gating",),
    params=ProbeParams,
    result=ProbeResult,
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
