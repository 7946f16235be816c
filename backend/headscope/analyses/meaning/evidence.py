"""From finished runs to tests: a score of every head, a threshold, and the name that passing gives.

Each test reads one array of one run and nothing else; a head without a number in it isn't tested. Patterns
and eigenvalues are held against thresholds (``MeaningParams``); mediation says itself which heads are
significant, by its own rule.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

import numpy as np
from jaxtyping import Bool, Float

from headscope.analyses.base import Input, Result
from headscope.analyses.columns import quietly
from headscope.analyses.meaning.schema import MeaningParams
from headscope.analyses.mediation_abstract_rules.schema import KINDS
from headscope.errors import Invalid

WANTED: Final[Mapping[str, str]] = {
    "induction": "induction",
    "eigen": "eigen",
    "rules": "mediation-abstract-rules",
    "functions": "mediation-function-vectors",
    "gating": "chg",
}
"""Which analysis a parameter's run must be of."""

EVIDENCE: Final = ("induction", "eigen", "rules", "functions")

CLOSE: Final = 2.0
"""Standard errors within which a score is said to be close to its threshold."""


@dataclass(frozen=True)
class Test:
    """What was asked of every head.

    ``sign`` -1: passed at ``threshold`` or below. ``threshold`` is None where the run itself says which heads
    are significant, by ``rule``. ``chance`` is the score of a head that does nothing of the kind, None where
    there is no such number.
    """

    key: str
    name: str
    measure: str
    param: str
    threshold: float | None = None
    sign: int = 1
    chance: float | None = None
    rule: str = ""


@dataclass(frozen=True, eq=False)
class Tested:
    """A test with its outcome; ``error`` is a standard error, NaN where it isn't known."""

    test: Test
    score: Float[np.ndarray, "layer head"]
    error: Float[np.ndarray, "layer head"]
    passed: Bool[np.ndarray, "layer head"]

    @property
    def close(self) -> Bool[np.ndarray, "layer head"]:
        """Within two standard errors of the threshold."""
        if self.test.threshold is None:
            return np.zeros(self.score.shape, bool)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(self.score - self.test.threshold) < CLOSE * self.error)


@dataclass(frozen=True, eq=False)
class Evidence:
    """All tests in their order, and what the runs are."""

    tested: Sequence[Tested]
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every kind of run is there, so that a head which passes nothing has no name we know of."""
        return set(EVIDENCE) <= set(self.sources)


def evidence(inputs: Mapping[str, Input] | None, params: MeaningParams) -> Evidence:
    """Every test that there is a run for.

    Raises ``Invalid``: no-evidence without any; other-analysis where a parameter names a run of another one;
    other-processing where two runs read weights that were processed differently.
    """
    runs = {name: _run(run, name) for name, run in (inputs or {}).items() if name in WANTED}
    if not set(runs) & set(EVIDENCE):
        raise Invalid(
            "There is no evidence to name heads by.",
            "Name a run of induction, eigenvalues, abstract rules or function vectors. Induction is the "
            "quickest: `headscope run induction`.",
            code="no-evidence",
        )
    _same_weights(runs)
    tested = [found for name in EVIDENCE if name in runs for found in _READERS[name](runs[name], params)]
    return Evidence(tested, {name: _said(run) for name, run in runs.items()})


def gating_of(inputs: Mapping[str, Input] | None) -> Result | None:
    """The gating run, where one is named."""
    run = (inputs or {}).get("gating")
    return None if run is None else _run(run, "gating")


def pack(found: Evidence) -> dict[str, Any]:
    """Evidence as a piece keeps it."""
    told = {"tests": [asdict(each.test) for each in found.tested], "sources": dict(found.sources)}
    return {
        "scores": np.stack([each.score for each in found.tested]).astype(np.float32),
        "errors": np.stack([each.error for each in found.tested]).astype(np.float32),
        "passed": np.stack([each.passed for each in found.tested]).astype(np.uint8),
        "told": np.frombuffer(json.dumps(told).encode(), np.uint8).copy(),
    }


def unpack(arrays: Mapping[str, Any], told: Mapping[str, Any] | None = None) -> Evidence:
    """The inverse of ``pack``; of a result's arrays with what its values tell."""
    said = json.loads(arrays["told"].tobytes()) if told is None else told
    rows = zip(said["tests"], arrays["scores"], arrays["errors"], arrays["passed"], strict=True)
    tested = [
        Tested(Test(**test), score.astype(float), error.astype(float), passed.astype(bool))
        for test, score, error, passed in rows
    ]
    return Evidence(tested, said["sources"])


def _induction(run: Result, params: MeaningParams) -> Iterator[Tested]:
    length, bos = int(run.params["length"]), int(run.model.bos)
    queries = np.arange(bos + length, bos + int(run.params["copies"]) * length)
    chance = float((1 / (queries + 1)).mean())
    for key, name, measure, threshold in (
        ("induction", "induction", "attention to what followed the earlier copy", params.pattern),
        ("previous", "previous token", "attention to the token just before", params.pattern),
        ("duplicate", "duplicate", "attention to the earlier copy", params.pattern),
        ("sink", "sink", "attention to the first token", params.sink),
    ):
        score, error = _over_draws(run.arrays[key])
        test = Test(key, name, measure, "induction", threshold, 1, chance, "mean over draws")
        yield Tested(test, score, error, score >= threshold)


def _eigen(run: Result, params: MeaningParams) -> Iterator[Tested]:
    score = run.arrays["ov_positivity"].astype(float)
    unknown = np.full(score.shape, np.nan)
    measure = "positivity of the OV eigenvalues"
    for key, name, sign in (("copying", "copying", 1), ("anti_copying", "anti-copying", -1)):
        test = Test(key, name, measure, "eigen", sign * params.copying, sign, 0.0, "from the weights")
        with np.errstate(invalid="ignore"):
            yield Tested(test, score, unknown, sign * score >= params.copying)


def _rules(run: Result, params: MeaningParams) -> Iterator[Tested]:
    rule = f"permutation, p < {run.params['alpha']:g}, {_CORRECTED[run.params['correction']]}"
    for kind in KINDS:
        measure = "effect of the patched head, logits"
        test = Test(kind.words.replace(" ", "_"), kind.words, measure, "rules", rule=rule)
        score, error = (run.arrays[name].astype(float) for name in (kind.name, f"{kind.name}_error"))
        yield Tested(test, score, error, run.arrays[f"{kind.name}_significant"].astype(bool))


def _functions(run: Result, params: MeaningParams) -> Iterator[Tested]:
    errors = run.arrays["error"].astype(float)
    rule = f"above the mean by {run.params['sds']:g} standard deviations"
    for number, (task, title) in enumerate(zip(run.values["tasks"], run.values["titles"], strict=True)):
        test = Test(
            f"function_vector:{task}",
            f"function vector of {title}",
            "rise of the answer's probability",
            "functions",
            rule=rule,
        )
        score, passed = run.arrays["effect"][number].astype(float), run.arrays["significant"][number]
        yield Tested(test, score, errors[number], passed.astype(bool))


_CORRECTED: Final = {
    "max": "corrected by the largest score",
    "holm": "corrected after Holm",
    "none": "not corrected for the number of heads",
}

_READERS: Final[Mapping[str, Callable[[Result, MeaningParams], Iterator[Tested]]]] = {
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


def _run(run: Input, name: str) -> Result:
    if not isinstance(run, Result) or run.analysis != WANTED[name]:
        kind = run.analysis if isinstance(run, Result) else "no analysis"
        raise Invalid(
            f"{name}: the run named is of {kind!r}.",
            f"Name a run of {WANTED[name]}.",
            code="other-analysis",
        )
    return run


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
    processing = f", {run.model.weight_processing} weights" if run.analysis == "eigen" else ""
    return f"{run.analysis}{task}{processing}"
