"""From finished runs to tests: what is read of each run, held against thresholds.

A head without a number in a run isn't tested. Patterns and eigenvalues are held against thresholds
(``MeaningParams``); mediation says itself which heads stand out. A name needs more: that the score lies there
surely, by a test that is corrected for the number of heads (abstract rules have such a one of their own).
Resting on the first token is no name. It is left out of every pattern, which is then of the weight that
remains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np
from jaxtyping import Bool, Float

from headscope.analyses.base import Result, Spec
from headscope.analyses.columns import quietly
from headscope.analyses.eigen.result import EigenResult
from headscope.analyses.induction.result import InductionResult
from headscope.analyses.meaning.evidence import EVIDENCE, RATE, Evidence, Test, Tested, surely
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
    """Of the weight that isn't on the first token (``beyond_first``), how much is where the name says, above
    what the same columns get from other tokens; of an earlier run, whatever they get.
    """
    bos, length = int(run.model.bos), int(run.params["length"])
    queries = np.arange(bos + length, bos + int(run.params["copies"]) * length)
    chance = 0.0 if run.above else float((1 / queries).mean())
    beyond = ", above the column's level" if run.above else ""
    for key, name, measure in (
        ("induction", "induction", "attention to what followed the earlier copy"),
        ("previous", "previous token", "attention to the token just before"),
        ("duplicate", "duplicate", "attention to the earlier copy"),
    ):
        score, error = over_draws(beyond_first(run, key, params.remaining))
        p = _above(score - params.pattern, error, len(run.sink) - 1)
        rule = f"mean over draws{beyond}"
        test = Test(key, name, measure, "induction", params.pattern, 1, chance, rule, _T)
        yield _tested(test, score, error, p, score >= params.pattern)


def _eigen(run: EigenResult, params: MeaningParams) -> Iterator[Tested]:
    from scipy.stats import norm

    score = run.positivity["ov"].astype(float)
    unknown = np.full(score.shape, np.nan)
    measure = "positivity of the OV eigenvalues"
    for key, name, sign in (("copying", "copying", 1), ("anti_copying", "anti-copying", -1)):
        test = Test(
            key, name, measure, "eigen", sign * params.copying, sign, 0.0, "from the weights", _RANDOM_MATRIX
        )
        p = np.asarray(norm.sf(sign * score * run.model.d_head / _SPREAD))
        with np.errstate(invalid="ignore"):
            yield _tested(test, score, unknown, p, sign * score >= params.copying)


def _rules(run: AbstractRulesResult, params: MeaningParams) -> Iterator[Tested]:
    """That run's own test, corrected for the number of heads as it was asked to."""
    rule = f"permutation, p < {run.params['alpha']:g}, {_CORRECTED[run.params['correction']]}"
    for kind in KINDS:
        measure = "effect of the patched head, logits"
        test = Test(kind.words.replace(" ", "_"), kind.words, measure, "rules", rule=rule)
        score, error = (each[kind.name].astype(float) for each in (run.score, run.error))
        yield Tested(test, score, error, run.significant[kind.name].astype(bool))


def _functions(run: FunctionVectorsResult, params: MeaningParams) -> Iterator[Tested]:
    rule = f"above the mean by {run.params['sds']:g} standard deviations"
    measure = "rise of the answer's probability"
    rows = zip(
        run.tasks, run.titles, run.effect, run.error, run.significant, run.n_prompts.tolist(), strict=True
    )
    for task, title, effect, error, significant, prompts in rows:
        test = Test(
            f"function_vector:{task}",
            f"function vector of {title}",
            measure,
            "functions",
            rule=rule,
            how=_T_PROMPTS,
        )
        score, spread = effect.astype(float), error.astype(float)
        yield _tested(test, score, spread, _above(score, spread, prompts - 1), significant > 0)


_T: Final = "t over draws, of lying above what is asked"
_T_PROMPTS: Final = "t over prompts, of a rise"
_RANDOM_MATRIX: Final = "of a random matrix"
_SPREAD: Final = 1.5
"""The positivity of a random d x d matrix has mean 0 and a standard deviation near this over d."""


def beyond_first(run: InductionResult, key: str, remaining: float) -> Float[np.ndarray, "draw layer head"]:
    """The first token's column left out: a score over the weight on all other tokens, in every draw.

    NaN where a draw leaves less than ``remaining`` there: of next to nothing everything can be a large share.
    Without BOS the first query's earlier copy is the first token itself; its weight isn't counted where
    columns weren't told from stripes.
    """
    score, first = run.named_by(key).astype(float), run.sink.astype(float)
    if key == "duplicate" and not run.model.bos and not run.above:
        score = np.clip(score - first / int(run.params["length"]), 0, None)
    rest = 1 - first
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rest >= remaining, score / rest, np.nan)


def _tested(
    test: Test,
    score: Float[np.ndarray, "layer head"],
    error: Float[np.ndarray, "layer head"],
    p: Float[np.ndarray, "layer head"],
    asked: Bool[np.ndarray, "layer head"],
) -> Tested:
    """A head passes that has what is asked, and surely."""
    q = surely(p)
    with np.errstate(invalid="ignore"):
        return Tested(test, score, error, np.asarray(asked & (q <= RATE)), q)


def _above(
    difference: Float[np.ndarray, "layer head"], error: Float[np.ndarray, "layer head"], freedom: int
) -> Float[np.ndarray, "layer head"]:
    """One-sided p of Student's t; NaN without an error, which a single draw has none of."""
    from scipy.stats import t

    if freedom < 1:
        return np.full(difference.shape, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(t.sf(difference / error, freedom))


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


def over_draws(
    values: Float[np.ndarray, "draw layer head"],
) -> tuple[Float[np.ndarray, "layer head"], Float[np.ndarray, "layer head"]]:
    """Mean and its standard error; NaN with a single draw, and where any draw is."""
    spread = quietly(np.std, values, axis=0, ddof=1)
    return np.asarray(values.mean(axis=0)), np.asarray(spread / np.sqrt(len(values)))


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
