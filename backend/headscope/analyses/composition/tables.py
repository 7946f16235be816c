"""Composition as numbers: the strongest pairs, one head's partners."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import NDArray

from headscope.analyses.columns import Column, Table, table
from headscope.analyses.composition.result import CompositionResult
from headscope.core.model.info import head_name
from headscope.figures.view import View

Array = NDArray[Any]

MOST_PAIRS = 1000
"""Rows of a table of pairs; the npz has them all."""

KIND_WORDS = {
    "k": ("K composition", "How much a later head's keys read what an earlier head writes.", "keys"),
    "q": ("Q composition", "How much a later head's queries read what an earlier head writes.", "queries"),
    "v": ("V composition", "How much a later head's values read what an earlier head writes.", "values"),
}
"""Title, reading, and what of the later head reads."""


def strongest(
    scores: Float[np.ndarray, "layer head layer head"],
    most: int,
    least: float = -np.inf,
    head: tuple[int, int] | None = None,
) -> tuple[Int[np.ndarray, "pair 4"], Float[np.ndarray, " pair"]]:
    """The pairs with the highest scores of at least ``least``, highest first; only ``head``'s if given."""
    scores = np.where(np.isnan(scores), -np.inf, scores)
    if head is not None:
        kept = np.full_like(scores, -np.inf)
        kept[head], kept[:, :, head[0], head[1]] = scores[head], scores[:, :, head[0], head[1]]
        scores = kept
    flat = scores.reshape(-1)
    order = np.argsort(-flat, kind="stable")[:most]
    order = order[(flat[order] >= least) & np.isfinite(flat[order])]
    return np.stack(np.unravel_index(order, scores.shape), axis=1), flat[order]


def partners(
    scores: Float[np.ndarray, "layer head layer head"], head: tuple[int, int], most: int
) -> tuple[list[str], Float[np.ndarray, " partner"]]:
    """Names and scores of the partners: "← 0.3" writes to the head, "→ 1.5" reads from it."""
    pairs, values = strongest(scores, most, head=head)
    names = [
        f"→ {head_name(pair[2:])}" if tuple(pair[:2]) == head else f"← {head_name(pair[:2])}"
        for pair in pairs.tolist()
    ]
    return names, values


def busiest(result: CompositionResult) -> tuple[int, int]:
    """The later head of the strongest K pair."""
    pairs, _ = strongest(result.k, 1)
    return int(pairs[0, 2]), int(pairs[0, 3])


def pairs_table(kind: str) -> Callable[[CompositionResult, View], Table]:
    """The strongest pairs of one kind."""

    def rows(result: CompositionResult, view: View) -> Table:
        pairs, values = strongest(result.scores(kind), MOST_PAIRS, head=view.head)
        baseline = result.baseline
        columns: list[Column] = [
            ("earlier", "earlier head, which writes", "", _names(pairs[:, :2])),
            ("later", "later head, which reads", "", _names(pairs[:, 2:])),
            ("above", "score above random matrices", "", values),
            ("score", "score", "", values + baseline),
        ]
        return table(columns)

    return rows


def partner_table(result: CompositionResult, view: View) -> Table:
    """One head's partners of each kind, the strongest first."""
    place = view.head or busiest(result)
    columns: dict[str, list[Any]] = {"kind": [], "partner": [], "direction": [], "above": []}
    for kind in KIND_WORDS:
        names, values = partners(result.scores(kind), place, MOST_PAIRS)
        for name, value in zip(names, values.tolist(), strict=True):
            columns["kind"].append(kind.upper())
            columns["partner"].append(name[2:])
            columns["direction"].append("reads from it" if name[0] == "→" else "writes to it")
            columns["above"].append(value)
    return table(
        [
            ("kind", "composition", "", np.array(columns["kind"])),
            ("partner", f"partner of {head_name(place)}", "", np.array(columns["partner"])),
            ("direction", "which", "", np.array(columns["direction"])),
            ("above", "score above random matrices", "", np.array(columns["above"])),
        ]
    )


def _names(places: Array) -> Array:
    return np.array([head_name(place) for place in places.tolist()])
