"""From finished runs to tests: what is read of each run, held against thresholds.

Each test reads one array of one run and nothing else; a head without a number in it isn't tested. Patterns
and eigenvalues are held against thresholds (``MeaningParams``); mediation says itself which heads are
significant, by its own rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np
from jaxtyping import Float

from headscope.analyses.base import Result, Spec
from headscope.analyses.columns import quietly
from headscope.analyses.eigen.result import EigenResult
from headscope.analyses.induction.result import InductionResult
from headscope.analyses.meaning.evidence import EVIDENCE, Evidence, Test, Tested
from headscope.analyses.meaning.schema import MeaningParams
from headscope.analyses.mediation_abstract_rules.result import AbstractRulesResult
from headscope.analyses.mediation_abstract_rules.schema import KINDS
from headscope.analyses.mediation_function_vectors.result import FunctionVectorsResult
from headscope.errors import Invalid


def evidence(spec: Spec[MeaningParams]) -> Evidence:
    """Every test that there is a run for.

    Raises ``Invalid``: no-evidence without any; other-processing where a run is of processed weights; what
    ``RunRef.check`` does.
    """
    given = [name for name in (*EVIDENCE, "gating") if name in spec.inputs]
    runs = {name: spec.needed(name, Result) for name in given}
    if not set(runs) & set(EVIDENCE):
        raise Invalid(
            "There is no evidence to name heads by.",
            "Name a run of induction, eigenvalues, abstract rules or function vectors. Induction is the "
            "quickest: `headscope run induction`.",
            code="no-evidence",
        )
    _same_weights(runs)
    tested = [
        found for name, read in _READERS.items() if name in runs for found in read(runs[name], spec.params)
    ]
    return Evidence(tested, {name: _said(run) for name, run in runs.items()})


def _induction(run: InductionResult, params: MeaningParams) -> Iterator[Tested]:
    length, bos = int(run.params["length"]), int(run.model.bos)
    queries = np.arange(bos + length, bos + int(run.params["copies"]) * length)
    chance = float((1 / (queries + 1)).mean())
    for key, name, measure, threshold in (
        ("induction", "induction", "attention to what followed the earlier copy", params.pattern),
        ("previous", "previous token", "attention to the token just before", params.pattern),
        ("duplicate", "duplicate", "attention to the earlier copy", params.pattern),
        ("sink", "sink", "attention to the first token", params.sink),
    ):
        score, error = _over_draws(run.score(key))
        test = Test(key, name, measure, "induction", threshold, 1, chance, "mean over draws")
        yield Tested(test, score, error, score >= threshold)


def _eigen(run: EigenResult, params: MeaningParams) -> Iterator[Tested]:
    score = run.positivity["ov"].astype(float)
    unknown = np.full(score.shape, np.nan)
    measure = "positivity of the OV eigenvalues"
    for key, name, sign in (("copying", "copying", 1), ("anti_copying", "anti-copying", -1)):
        test = Test(key, name, measure, "eigen", sign * params.copying, sign, 0.0, "from the weights")
        with np.errstate(invalid="ignore"):
            yield Tested(test, score, unknown, sign * score >= params.copying)


def _rules(run: AbstractRulesResult, params: MeaningParams) -> Iterator[Tested]:
    rule = f"permutation, p < {run.params['alpha']:g}, {_CORRECTED[run.params['correction']]}"
    for kind in KINDS:
        measure = "effect of the patched head, logits"
        test = Test(kind.words.replace(" ", "_"), kind.words, measure, "rules", rule=rule)
        score, error = (each[kind.name].astype(float) for each in (run.score, run.error))
        yield Tested(test, score, error, run.significant[kind.name].astype(bool))


def _functions(run: FunctionVectorsResult, params: MeaningParams) -> Iterator[Tested]:
    rule = f"above the mean by {run.params['sds']:g} standard deviations"
    measure = "rise of the answer's probability"
    rows = zip(run.tasks, run.titles, run.effect, run.error, run.significant, strict=True)
    for task, title, effect, error, passed in rows:
        test = Test(f"function_vector:{task}", f"function vector of {title}", measure, "functions", rule=rule)
        yield Tested(test, effect.astype(float), error.astype(float), passed.astype(bool))


_CORRECTED: Final = {
    "max": "corrected by the largest score",
    "holm": "corrected after Holm",
    "none": "not corrected for the number of heads",
}

_READERS: Final[Mapping[str, Callable[[Any, MeaningParams], Iterator[Tested]]]] = {
    "induction": _induction,
    "eigen": _eigen,
    "rules": _rules,
    "functions": _functions,
}


def _over_draws(
    values: Float[np.ndarray, "draw layer head"],
) -> tuple[Float[np.ndarray, "layer head"], Float[np.ndarray, "layer head"]]:
    """Mean and its standard error; NaN with a single draw."""
    wide = values.astype(float)
    spread = quietly(np.nanstd, wide, axis=0, ddof=1)
    return np.asarray(quietly(np.nanmean, wide, axis=0)), np.asarray(spread / np.sqrt(len(wide)))


def _same_weights(runs: Mapping[str, Result]) -> None:
    """Eigenvalues are of folded or raw weights; all else runs the model as it is, whatever was folded."""
    used = {
        name: run.model.weight_processing
        for name, run in runs.items()
        if name != "eigen" and run.model.weight_processing != "none"
    }
    if used:
        name, processing = next(iter(used.items()))
        raise Invalid(
            f"{name}: that run's weights are {processing}, the others' are as the model stores them.",
            "Name runs of the same weight processing.",
            code="other-processing",
        )


def _said(run: Result) -> str:
    """What a run is, in words."""
    task = "" if run.task is None else f" on {run.task['title']}"
    processing = f", {run.model.weight_processing} weights" if isinstance(run, EigenResult) else ""
    return f"{run.analysis}{task}{processing}"
