"""What names rest on: tests of every head, each with its scores and who passed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from jaxtyping import Bool, Float, Shaped

from headscope.core.statistics.significance import benjamini_hochberg

EVIDENCE: Final = ("induction", "eigen", "rules", "functions")
"""The parameters that name runs of evidence."""

RATE: Final = 0.05
"""Of the names that one test gives, so many may be false: its false-discovery rate over the heads."""

CLOSE: Final = 2.0
"""Standard errors within which a score is said to be close to its threshold."""


@dataclass(frozen=True)
class Test:
    """What was asked of every head.

    ``sign`` -1: asked is ``threshold`` or below. ``threshold`` is None where the run itself says which heads
    are significant, by ``rule``. ``chance`` is the score of a head that does nothing of the kind, None where
    there is no such number. ``how`` says what p is of; "" in results that had none.
    """

    key: str
    name: str
    measure: str
    param: str
    threshold: float | None = None
    sign: int = 1
    chance: float | None = None
    rule: str = ""
    how: str = ""


@dataclass(frozen=True, eq=False)
class Tested:
    """A test with its outcome; ``error`` is a standard error, NaN where it isn't known. ``q`` is p corrected
    for the heads tested (``surely``), NaN where there is none.
    """

    test: Test
    score: Float[np.ndarray, "layer head"]
    error: Float[np.ndarray, "layer head"]
    passed: Bool[np.ndarray, "layer head"]
    q: Float[np.ndarray, "layer head"] | None = None

    @property
    def close(self) -> Bool[np.ndarray, "layer head"]:
        """Within two standard errors of the threshold."""
        if self.test.threshold is None:
            return np.zeros(self.score.shape, bool)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(self.score - self.test.threshold) < CLOSE * self.error)


def surely(p: Float[np.ndarray, "layer head"]) -> Float[np.ndarray, "layer head"]:
    """p corrected for all heads that could be tested, after Benjamini and Hochberg; NaN stays NaN."""
    known, q = np.isfinite(p), np.full(p.shape, np.nan)
    if known.any():
        q[known] = benjamini_hochberg(p[known])
    return q


@dataclass(frozen=True, eq=False)
class Evidence:
    """All tests in their order, and what the runs are, by parameter."""

    tested: Sequence[Tested]
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether every kind of run is there, so that a head which passes nothing has no name we know of."""
        return set(EVIDENCE) <= set(self.sources)

    @classmethod
    def of(
        cls,
        tests: Sequence[Mapping[str, Any]],
        sources: Mapping[str, str],
        scores: Shaped[np.ndarray, "test layer head"],
        errors: Shaped[np.ndarray, "test layer head"],
        passed: Shaped[np.ndarray, "test layer head"],
        q: Shaped[np.ndarray, "test layer head"] | None = None,
    ) -> Evidence:
        """As it is stored: tests as plain values, their outcomes as arrays."""
        corrected = [None] * len(tests) if q is None else list(q.astype(float))
        rows = zip(tests, scores, errors, passed, corrected, strict=True)
        tested = [
            Tested(Test(**test), score.astype(float), error.astype(float), by.astype(bool), of_it)
            for test, score, error, by, of_it in rows
        ]
        return cls(tested, sources)
