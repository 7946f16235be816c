"""Whether tasks of one model use the same heads: counts and phi for each pair, see core.statistics.overlap.

The view's mode says what a head's weight is: ``every`` its share of seeds with the role, ``always`` and
``any`` 1 where it has the role in all, in some seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from headscope.analyses.columns import Array, Column, Table, table
from headscope.analyses.comparisons.base import Chosen, Compared, CompareView, Comparison
from headscope.core.gating.roles import SCORE_NAMES
from headscope.core.statistics.overlap import Overlap, overlap
from headscope.figures.matrix import matrix
from headscope.figures.theme import Drawing, signed_scale, titled

_ROOMY = 4
"""Up to so many runs the cells of a matrix have room for what chance gives, on a phone too."""

MODES = {"every": "share of seeds", "always": "in every seed", "any": "in some seed"}


def weights(run: Compared, score: str, look: CompareView) -> Array:
    """Each head's weight in [0, 1], [layer, head]; NaN where no seed has a fit."""
    has = run.score(score)[run.ran] >= look.view.threshold
    if not len(has):
        return np.full(has.shape[1:], np.nan)
    reduce: dict[str, Callable[..., Any]] = {"every": np.mean, "always": np.all, "any": np.any}
    return np.asarray(reduce[look.view.mode](has, axis=0), float)


def between(first: Compared, second: Compared, score: str, look: CompareView) -> Overlap:
    """The overlap of two runs of one model."""
    return overlap(weights(first, score, look), weights(second, score, look))


def why_not(first: Compared, second: Compared, score: str, look: CompareView) -> str:
    """Why two runs have no phi; nothing where they have one."""
    for run in (first, second):
        held = weights(run, score, look)
        if np.isnan(held).any():
            return f"no seed of {run.label} has a fit"
        if np.ptp(held) == 0:
            which = (
                "no head"
                if held.max() == 0
                else "every head"
                if held.min() == 1
                else "each head equally often"
            )
            return f"{which} is “{run.gating.vocabulary.scores[score]}” {_IN[look.view.mode]} in {run.label}"
    return ""


def draw(chosen: Chosen, look: CompareView) -> Drawing:
    """Phi as colour, heads in both and phi as words; on the diagonal a task's own heads."""
    found = [[between(a, b, look.score, look) for b in chosen.runs] for a in chosen.runs]
    chance = len(chosen.runs) <= _ROOMY
    values = np.array([[one.phi for one in row] for row in found])
    np.fill_diagonal(values, np.nan)
    words = [
        [_heads(one.both + one.first_only) if i == j else _cell(one, chance) for j, one in enumerate(row)]
        for i, row in enumerate(found)
    ]
    hover = [
        [_told(a, b, found[i][j], look) for j, b in enumerate(chosen.runs)] for i, a in enumerate(chosen.runs)
    ]
    names = [run.label for run in chosen.runs]
    scale = signed_scale(look.view.colours)
    figure = matrix(values, words, hover, names, scale, (-1.0, 1.0), look.view.colours)
    info = chosen.runs[0].result.model
    reading = (
        f"Of {info.n_layers * info.n_heads} heads of {chosen.runs[0].model}: "
        f"those “{chosen.words()[look.score]}” for both tasks ({MODES[look.view.mode]}), and φ: 1 the same "
        "heads, 0 no more than chance, below 0 fewer. On the diagonal the task’s own heads. Seeds of one "
        "task agree only in part, which keeps φ below 1 even for tasks that use the same heads."
    )
    if chance:
        reading += " In brackets: heads in both by chance."
    return titled(
        figure,
        "Do tasks use the same heads?",
        reading,
        threshold=look.view.threshold,
        statistic=MODES[look.view.mode],
        score=look.score,
    )


def rows(chosen: Chosen, look: CompareView) -> Table:
    """A row for each pair and role: heads in both, in one, in neither, in both by chance, and phi."""
    pairs = [
        (score, a, b)
        for score in SCORE_NAMES
        for i, a in enumerate(chosen.runs)
        for b in chosen.runs[i + 1 :]
    ]
    found = [between(a, b, score, look) for score, a, b in pairs]
    columns: list[Column] = [
        ("role", "role", "", np.array([chosen.words()[score] for score, *_ in pairs])),
        ("counted", "counted", "", np.array([MODES[look.view.mode] for _ in pairs])),
        ("first", "first", "", np.array([a.label for _, a, _ in pairs])),
        ("second", "second", "", np.array([b.label for *_, b in pairs])),
    ]
    for name, words in _COUNTS.items():
        columns.append((name, words, "heads", np.array([getattr(one, name) for one in found])))
    columns += [
        ("phi", "φ", "", np.array([one.phi for one in found])),
        ("missing", "why no φ", "", np.array([why_not(a, b, score, look) for score, a, b in pairs])),
    ]
    return table(columns)


OVERLAP = Comparison(
    name="overlap",
    title="Overlap of roles between tasks",
    summary="Whether tasks of one model need, or are harmed by, the same heads, beside what chance gives.",
    least=2,
    one_model=True,
    follows=("threshold", "mode", "score"),
    draw=draw,
    rows=rows,
)

_COUNTS = {
    "both": "in both",
    "expected": "in both by chance",
    "first_only": "in the first only",
    "second_only": "in the second only",
    "neither": "in neither",
}
_IN = {"every": "in a seed", "always": "in every seed", "any": "in a seed"}


def _heads(number: float) -> str:
    return "–" if np.isnan(number) else f"{number:.0f}" if number == round(number) else f"{number:.1f}"


def _cell(one: Overlap, chance: bool) -> str:
    phi = "–" if np.isnan(one.phi) else f"{one.phi:.2f}".replace("-", "−")
    expected = f" ({_heads(round(one.expected, 1))})" if chance and np.isfinite(one.expected) else ""
    return f"{_heads(one.both)}{expected}<br>φ {phi}"


def _told(first: Compared, second: Compared, one: Overlap, look: CompareView) -> str:
    if first is second:
        return f"{first.task}: {_heads(one.both + one.first_only)} heads"
    reason = why_not(first, second, look.score, look)
    phi = f"no φ: {reason}" if reason else f"φ = {one.phi:.3f}".replace("-", "−")
    return (
        f"{first.task} and {second.task}<br>{_heads(one.both)} in both, {one.expected:.1f} by chance<br>"
        f"{_heads(one.first_only)} in the first only, {_heads(one.second_only)} in the second only<br>{phi}"
    )
