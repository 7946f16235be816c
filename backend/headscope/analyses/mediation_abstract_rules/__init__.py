"""Abstract rules: heads that abstract symbols, that continue the rule, that retrieve the answer."""

from __future__ import annotations

from headscope.analyses.base import Analysis
from headscope.analyses.mediation_abstract_rules.assemble import assemble
from headscope.analyses.mediation_abstract_rules.estimate import estimate
from headscope.analyses.mediation_abstract_rules.figures import FIGURES
from headscope.analyses.mediation_abstract_rules.plan import plan
from headscope.analyses.mediation_abstract_rules.result import QUANTITIES, AbstractRulesResult, headline
from headscope.analyses.mediation_abstract_rules.schema import PRESETS, AbstractRuleParams, seeds

ABSTRACT_RULES = Analysis(
    title="Causal mediation: abstract rules",
    summary="Heads that turn tokens into symbols, carry on a rule, and find the answer.",
    needs=("gating",),
    params=AbstractRuleParams,
    result=AbstractRulesResult,
    estimate=estimate,
    plan=plan,
    assemble=assemble,
    figures=FIGURES,
    headline=headline,
    quantities=QUANTITIES,
    seeds=seeds,
    presets=PRESETS,
)
