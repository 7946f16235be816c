"""What can be computed about a model's heads: one explicit dict, a folder each. Loads no torch to import."""

from __future__ import annotations

from typing import Any

from headscope.analyses.ability import ABILITY
from headscope.analyses.agreement import AGREEMENT
from headscope.analyses.base import Analysis
from headscope.analyses.battery import BATTERY
from headscope.analyses.cchg import CCHG
from headscope.analyses.chg import CHG
from headscope.analyses.circuit_test import CIRCUIT_TEST
from headscope.analyses.composition import COMPOSITION
from headscope.analyses.eigen import EIGEN
from headscope.analyses.evaluation import EVALUATION
from headscope.analyses.in_context_learning import IN_CONTEXT_LEARNING
from headscope.analyses.induction import INDUCTION
from headscope.analyses.meaning import MEANING
from headscope.analyses.mediation_abstract_rules import ABSTRACT_RULES
from headscope.analyses.mediation_function_vectors import FUNCTION_VECTORS
from headscope.analyses.paths import PATHS
from headscope.analyses.probe import PROBE
from headscope.analyses.relatives import RELATIVES
from headscope.analyses.residual import RESIDUAL
from headscope.analyses.sequential_ablation import SEQUENTIAL_ABLATION
from headscope.analyses.skip_trigrams import SKIP_TRIGRAMS
from headscope.analyses.sufficiency import SUFFICIENCY

ANALYSES: dict[str, Analysis[Any, Any]] = {
    "chg": CHG,
    "cchg": CCHG,
    "ability": ABILITY,
    "evaluation": EVALUATION,
    "induction": INDUCTION,
    "in-context-learning": IN_CONTEXT_LEARNING,
    "battery": BATTERY,
    "sufficiency": SUFFICIENCY,
    "sequential-ablation": SEQUENTIAL_ABLATION,
    "circuit-test": CIRCUIT_TEST,
    "relatives": RELATIVES,
    "probe": PROBE,
    "agreement": AGREEMENT,
    "mediation-function-vectors": FUNCTION_VECTORS,
    "mediation-abstract-rules": ABSTRACT_RULES,
    "eigen": EIGEN,
    "composition": COMPOSITION,
    "skip-trigrams": SKIP_TRIGRAMS,
    "paths": PATHS,
    "residual": RESIDUAL,
    "meaning": MEANING,
}
