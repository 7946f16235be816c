"""How alike scores are spread in any two runs, whose heads need not match.

Seeds and heads of a run are pooled; Pearson's r of the two quantile functions at 101 points [Causal Head
Gating, arXiv 2505.13737: 54 pairs of models, lowest 94.9 %, mean 99.2 %]. Quantile functions both rise, so r
is never negative, and high for most pairs of distributions that have both low and high scores.
"""

from __future__ import annotations

import numpy as np

from headscope.analyses.columns import Array, Column, Table, table
from headscope.analyses.comparisons.base import Chosen, Compared, CompareView, Comparison
from headscope.core.gating import roles
from headscope.core.gating.roles import SCORE_NAMES
from headscope.figures.matrix import matrix
from headscope.figures.theme import Drawing, magnitude_scale, titled


def between(first: Compared, second: Compared, score: str) -> float:
    """Pearson's r of the two runs' quantile functions of one score; NaN where ``why_not`` says why."""
    return roles.quantile_correlation(first.score(score), second.score(score))


def why_not(first: Compared, second: Compared, score: str) -> str:
    """Why two runs have no correlation; nothing where they have one."""
    for run in (first, second):
        values = run.score(score)[run.ran]
        if values.size == 0:
            return f"no seed of {run.label} has a fit"
        if np.ptp(values) == 0:
            return f"all heads of {run.label} score the same"
    return ""


def draw(chosen: Chosen, look: CompareView) -> Drawing:
    """The matrix of one score."""
    values = _values(chosen, look.score)
    known = values[np.isfinite(values)]
    low = min(0.9, np.floor(10 * float(known.min())) / 10) if len(known) else 0.0
    words = [[f"{r:.3f}" if np.isfinite(r) else "–" for r in row] for row in values]
    hover = [[_told(a, b, look.score) for b in chosen.runs] for a in chosen.runs]
    names = [run.label for run in chosen.runs]
    scale = magnitude_scale(look.view.colours)
    figure = matrix(values, words, hover, names, scale, (low, 1.0), look.view.colours)
    reading = (
        f"Pearson’s r of how “{chosen.words()[look.score]}” is spread over heads and seeds, at 101 "
        "quantiles. 1: the same distribution up to scale and shift; it says nothing of which heads. Between "
        "two rising curves r is never negative and mostly high: the paper finds 0.949 to 1 among its models."
    )
    return titled(figure, "How alike are the scores spread?", reading, score=look.score)


def rows(chosen: Chosen, look: CompareView) -> Table:
    """A row for each pair: r of each score, and why where there is none."""
    pairs = [(a, b) for place, a in enumerate(chosen.runs) for b in chosen.runs[place + 1 :]]
    columns: list[Column] = [
        ("first", "first", "", np.array([a.label for a, _ in pairs])),
        ("second", "second", "", np.array([b.label for _, b in pairs])),
    ]
    for score in SCORE_NAMES:
        columns.append(
            (score, f"r of {chosen.words()[score]}", "", np.array([between(a, b, score) for a, b in pairs]))
        )
    reasons = [
        "; ".join(filter(None, dict.fromkeys(why_not(a, b, s) for s in SCORE_NAMES))) for a, b in pairs
    ]
    columns.append(("missing", "why not", "", np.array(reasons)))
    return table(columns)


CORRELATION = Comparison(
    name="correlation",
    title="Likeness of distributions",
    summary="How alike any models and tasks spread their scores, by quantiles; heads need not match.",
    least=2,
    one_model=False,
    follows=("score",),
    draw=draw,
    rows=rows,
)


def _values(chosen: Chosen, score: str) -> Array:
    return np.array([[between(a, b, score) for b in chosen.runs] for a in chosen.runs])


def _told(first: Compared, second: Compared, score: str) -> str:
    reason = why_not(first, second, score)
    number = f"no r: {reason}" if reason else f"r = {between(first, second, score):.4f}"
    return f"{first.label}<br>{second.label}<br>{number}"
