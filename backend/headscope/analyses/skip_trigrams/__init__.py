"""Skip trigrams: which A ... B -> C a head raises, and which it must raise with them.

[A Mathematical Framework for Transformer Circuits, 2021]
"""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.skip_trigrams.compute import assemble, estimate, plan
from headscope.analyses.skip_trigrams.figures import FIGURES
from headscope.analyses.skip_trigrams.result import QUANTITIES, SkipTrigramsResult, headline
from headscope.analyses.skip_trigrams.schema import PRESETS, SkipTrigramsParams

SKIP_TRIGRAMS = Analysis(
    title="Skip trigrams",
    summary="Which “A … B → C” a head raises, and which it can't help raising with them.",
    needs=("circuits",),
    params=SkipTrigramsParams,
    presets=PRESETS,
    result=SkipTrigramsResult,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
)
