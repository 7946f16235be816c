"""What can be computed about a model's heads: one explicit dict, a folder each. Loads no torch to import."""

from __future__ import annotations

from typing import Any

from headscope.analyses.agreement.compute import Agreement
from headscope.analyses.base import Analysis
from headscope.analyses.battery.compute import Battery
from headscope.analyses.cchg.compute import ContrastiveGating
from headscope.analyses.chg.compute import CausalHeadGating
from headscope.analyses.composition.compute import Composition
from headscope.analyses.eigen.compute import Eigen
from headscope.analyses.evaluation.compute import Evaluation
from headscope.analyses.induction.compute import Induction
from headscope.analyses.meaning.compute import Meaning
from headscope.analyses.mediation_abstract_rules.compute import AbstractRules
from headscope.analyses.mediation_function_vectors.compute import FunctionVectors
from headscope.analyses.paths.compute import Paths
from headscope.analyses.probe.compute import Probe
from headscope.analyses.relatives.compute import Relatives
from headscope.analyses.residual.compute import Residual
from headscope.analyses.sequential_ablation.compute import SequentialAblation
from headscope.analyses.skip_trigrams.compute import SkipTrigrams
from headscope.analyses.sufficiency.compute import Sufficiency

ANALYSES: dict[str, Analysis[Any]] = {
    "chg": CausalHeadGating(),
    "cchg": ContrastiveGating(),
    "evaluation": Evaluation(),
    "induction": Induction(),
    "battery": Battery(),
    "sufficiency": Sufficiency(),
    "sequential-ablation": SequentialAblation(),
    "relatives": Relatives(),
    "probe": Probe(),
    "agreement": Agreement(),
    "mediation-function-vectors": FunctionVectors(),
    "mediation-abstract-rules": AbstractRules(),
    "eigen": Eigen(),
    "composition": Composition(),
    "skip-trigrams": SkipTrigrams(),
    "paths": Paths(),
    "residual": Residual(),
    "meaning": Meaning(),
}
