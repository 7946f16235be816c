"""How well roles are found, cell by cell: means over draws with intervals.

A cell is a size, a form and a level of noise; each of its draws is another model. For a role, each head of a
model gets a score, and AUROC is the probability that a head planted with that role scores higher than one
planted with another (``core.statistics.ranking``):

    needed    facilitation, mean over fits        useless   irrelevance, mean over fits
    harmful   interference, mean over fits        pair      largest interaction with another head, nats
                                                  shares    p (1 - p), p the share of fits with facilitation

``shares`` is how the pair was looked for before: needed in some fits and not in all. Strictly, a role is
found where ``score`` says so; the pair where its interaction is at least ``MUCH``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, Protocol, get_args

import numpy as np
from jaxtyping import Bool, Float

from headscope.core.gating.roles import scores
from headscope.core.statistics.ranking import Interval, auroc, mean_over_draws
from headscope.validation.planted import Head, Role
from headscope.validation.premises import MUCH
from headscope.validation.score import Heads, Match
from headscope.validation.shipped import GOALS

Measure = Literal["needed", "harmful", "useless", "pair", "shares"]
MEASURES: Final[tuple[Measure, ...]] = get_args(Measure)

ROLE: Final[Mapping[Measure, Role]] = {
    "needed": "needed",
    "harmful": "harmful",
    "useless": "useless",
    "pair": "redundant",
    "shares": "redundant",
}


class Judged(Protocol):
    """A fitted model whose roles are known: ``chg.Trial``, ``known.KnownTrial``."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def holds(self) -> bool: ...  # noqa: D102
    @property
    def planted(self) -> Heads: ...  # noqa: D102
    @property
    def g_plus(self) -> Float[np.ndarray, "seed layer head"]: ...  # noqa: D102
    @property
    def g_minus(self) -> Float[np.ndarray, "seed layer head"]: ...  # noqa: D102
    @property
    def redundancy(self) -> Float[np.ndarray, "layer head"]: ...  # noqa: D102
    @property
    def matches(self) -> dict[Role, Match]: ...  # noqa: D102


@dataclass(frozen=True)
class Found:
    """One measure over draws: AUROC, precision and recall in [0, 1]; a draw counts where it has a value."""

    auroc: Interval
    precision: Interval
    recall: Interval


@dataclass(frozen=True)
class Cell:
    """Draws of one size, form and noise; ``counted`` of them hold their premises and were fitted."""

    name: str
    draws: int
    counted: int
    found: Mapping[Measure, Found]

    @property
    def missed(self) -> list[Measure]:
        """The measures below their goal; none where no draw counts."""
        return [
            name
            for name in MEASURES
            if self.counted and name in GOALS and self.found[name].auroc.mean < GOALS[name]
        ]


def cells(done: Sequence[Judged]) -> list[Cell]:
    """A cell for each size, form and noise, in the order of the trials, and all of them together at last."""
    by_name: dict[str, list[Judged]] = {}
    for one in done:
        by_name.setdefault(one.name, []).append(one)
    return [*(_cell(name, of_cell) for name, of_cell in by_name.items()), _cell("together", done)]


def passed(rows: Sequence[Cell]) -> bool:
    """Whether some draw counts and every cell meets every goal."""
    return any(row.counted for row in rows) and not any(row.missed for row in rows)


def to_json(rows: Sequence[Cell]) -> list[dict[str, Any]]:
    """Plain JSON; None where there is no number."""
    return [
        {
            "name": row.name,
            "draws": row.draws,
            "counted": row.counted,
            "missed": row.missed,
            "found": {
                name: {part: _plain(getattr(found, part)) for part in ("auroc", "precision", "recall")}
                for name, found in row.found.items()
            },
        }
        for row in rows
    ]


def head_scores(one: Judged) -> dict[Measure, Float[np.ndarray, "layer head"]]:
    """Each head's score by measure; higher is likelier."""
    each = scores(one.g_plus, one.g_minus)
    share = (each["facilitation"] >= 0.5).mean(axis=0)
    return {
        "needed": each["facilitation"].mean(axis=0),
        "harmful": each["interference"].mean(axis=0),
        "useless": each["irrelevance"].mean(axis=0),
        "pair": one.redundancy,
        "shares": share * (1 - share),
    }


def _cell(name: str, done: Sequence[Judged]) -> Cell:
    counted = [one for one in done if one.holds]
    ranked = [head_scores(one) for one in counted]
    found: dict[Measure, Found] = {}
    for measure in MEASURES:
        role = ROLE[measure]
        areas = [
            auroc(score[measure], marked(one.planted[role], score[measure].shape))
            for one, score in zip(counted, ranked, strict=True)
        ]
        strict = [_strict(one, measure) for one in counted]
        found[measure] = Found(
            mean_over_draws(areas),
            mean_over_draws([match.precision for match in strict]),
            mean_over_draws([match.recall for match in strict]),
        )
    return Cell(name, len(done), len(counted), found)


def _strict(one: Judged, measure: Measure) -> Match:
    if measure != "pair":
        return one.matches[ROLE[measure]]
    heads = {(int(layer), int(head)) for layer, head in np.argwhere(one.redundancy >= MUCH)}
    planted = set(one.planted["redundant"])
    return Match(len(planted), len(heads), len(planted & heads))


def marked(heads: Sequence[Head], shape: tuple[int, ...]) -> Bool[np.ndarray, "layer head"]:
    """True at the heads."""
    mask = np.zeros(shape, bool)
    for head in heads:
        mask[head] = True
    return mask


def _plain(interval: Interval) -> dict[str, float | int | None]:
    return {
        key: None if isinstance(value, float) and np.isnan(value) else round(value, 4)
        for key, value in asdict(interval).items()
    }
