"""What the tests say of a circuit, in words, and never more than was tested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headscope.analyses.circuit_test.result import CircuitTestResult
from headscope.core.model.info import head_name, heads_in_words
from headscope.core.statistics.circuit_tests import (
    ALPHA,
    MARGIN,
    MOST_ROWS,
    equivalence,
    independence,
    quantile,
    rank_p,
)
from headscope.core.statistics.enough import enough, too_few

Verdict = Mapping[str, Any]

_NAMED = 6


def verdicts(result: CircuitTestResult, permutations: int, seed: int) -> Sequence[Verdict]:
    """Five tests, and completeness, which is a measure without one; too few held-out rows judge none."""
    told = [
        _equivalence(result),
        _independence(result, permutations, seed),
        _minimality(result),
        _sufficiency(result),
        _necessity(result),
        _completeness(result),
    ]
    return told if enough(result.n_test) else [_unjudged(each, result.n_test) for each in told]


def _unjudged(told: Verdict, rows: int) -> Verdict:
    return {**told, "outcome": "open", "verdict": f"{too_few(rows)} {told['verdict']}"}


def _equivalence(result: CircuitTestResult) -> Verdict:
    found = equivalence(result.example_circuit, result.example_model)
    seen = (
        f"The circuit does better than the model on {_percent(found.share)} of {result.n_test} examples, "
        f"ties counted half (90 % interval {_percent(found.low)} to {_percent(found.high)})"
    )
    if not found.differing:
        outcome, words = "shown", f"The circuit scores each of {result.n_test} examples as the model does."
    elif found.p <= ALPHA:
        outcome, words = "refuted", f"{seen}: not as often better as worse."
    elif found.equivalent:
        outcome = "shown"
        words = (
            f"{seen}: as often better as worse, within {100 * MARGIN:.0f} points. By how much isn't asked."
        )
    else:
        outcome = "open"
        words = f"{seen}: neither told apart from a fair coin nor shown to be one."
    return _told(
        "equivalence", "Equivalence", "share of examples better", found.share, found.p, outcome, words
    )


def _independence(result: CircuitTestResult, permutations: int, seed: int) -> Verdict:
    found = independence(result.example_without, result.example_model, permutations, seed)
    n = min(result.n_test, MOST_ROWS)
    if found.p <= ALPHA:
        outcome = "refuted"
        words = (
            "What the model scores without the circuit is related to what it scores with it: the other heads "
            "do some of the work, or examples are easy for both."
        )
    else:
        outcome = "open"
        words = (
            f"No dependence of the model without the circuit on the model was found in {n} examples, which "
            "doesn't show that there is none."
        )
    return _told("independence", "Independence", "HSIC", found.hsic, found.p, outcome, words)


def _minimality(result: CircuitTestResult) -> Verdict:
    p, n, others = result.loss_p, len(result.loss), len(result.inflated)
    below = [head_name(head) for head, each in zip(result.places, p.tolist(), strict=True) if each > ALPHA]
    against = f"against {others} heads from outside, each added to the circuit and removed again"
    if not below:
        outcome, words = "shown", f"Each of the {n} heads costs more than such a head does ({against})."
    elif 1 / (1 + others) > ALPHA:
        outcome = "open"
        words = f"{others} heads outside are too few to show anything at 5 %: p ≥ {1 / (1 + others):.2g}."
    else:
        named = ", ".join(below[:_NAMED]) + (" and more" if len(below) > _NAMED else "")
        outcome = "open"
        words = f"{n - len(below)} of {n} heads are shown to be needed {against}; not shown of {named}."
    return _told(
        "minimality",
        "Minimality",
        f"least loss of a member, {result.unit}",
        float(result.loss.min()),
        float(p.max()),
        outcome,
        words,
    )


def _sufficiency(result: CircuitTestResult) -> Verdict:
    place, p = quantile(result.score_circuit, result.random), rank_p(result.score_circuit, result.random)
    words = (
        f"The circuit alone does better than {_percent(place)} of {len(result.random)} random circuits of "
        f"{heads_in_words(len(result.heads))}."
    )
    outcome, words = _ranked(p, len(result.random), words)
    title = "quantile among random circuits"
    return _told("sufficiency", "Sufficiency", title, place, p, outcome, words)


def _necessity(result: CircuitTestResult) -> Verdict:
    low = rank_p(result.score_without, result.random_without, "low")
    place = 1 - quantile(result.score_without, result.random_without)
    words = (
        f"The model loses more without the circuit than without {_percent(place)} of "
        f"{len(result.random_without)} random circuits of {heads_in_words(len(result.heads))}. Other heads "
        "may be needed too."
    )
    outcome, words = _ranked(low, len(result.random_without), words)
    title = "quantile of what its removal costs"
    return _told("necessity", "Partial necessity", title, place, low, outcome, words)


def _completeness(result: CircuitTestResult) -> Verdict:
    gap = np.abs(result.subset_kept - result.subset_whole)
    title = "mean |f(C without K) − f(all without K)|"
    if np.isnan(gap).all():
        return _told("completeness", "Completeness", title, None, None, "open", "The model gains nothing.")
    words = (
        f"With the same random heads of the circuit knocked out, circuit and model differ by "
        f"{_percent(float(gap.mean()))} of the model's gain in the mean, by at most "
        f"{_percent(float(gap.max()))} ({len(gap)} subsets). A measure, not a test."
    )
    return _told("completeness", "Completeness", title, float(gap.mean()), None, "open", words)


def _ranked(p: float, n: int, words: str) -> tuple[str, str]:
    if p <= ALPHA:
        return "shown", words
    few = f" {n} are too few to show anything at 5 %." if 1 / (1 + n) > ALPHA else ""
    return "open", f"{words} That isn't beyond chance.{few}"


def _told(
    name: str, title: str, statistic: str, value: float | None, p: float | None, outcome: str, verdict: str
) -> Verdict:
    return {
        "name": name,
        "title": title,
        "statistic": statistic,
        "value": value,
        "p": p,
        "outcome": outcome,
        "verdict": verdict,
    }


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
