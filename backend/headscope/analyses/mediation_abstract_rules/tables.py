"""The table twins of the abstract rules' figures: a row for each head."""

from __future__ import annotations

from collections.abc import Callable

from headscope.analyses.base import Result
from headscope.analyses.columns import Column, Table, flat, places, table
from headscope.analyses.mediation_abstract_rules.schema import KINDS, Kind
from headscope.figures.view import View


def of_kind(kind: Kind) -> Callable[[Result, View], Table]:
    """One kind's scores and p-values."""

    def rows(result: Result, view: View) -> Table:
        return table([*places(result.model), *_columns(result, kind)])

    return rows


def heads(result: Result, view: View) -> Table:
    """All kinds."""
    return table([*places(result.model), *(column for kind in KINDS for column in _columns(result, kind))])


def _columns(result: Result, kind: Kind) -> list[Column]:
    arrays, name, words = result.arrays, kind.name, kind.words
    return [
        (name, f"{words} score, mean over pairs", "logits", flat(arrays[name])),
        (f"{name}_error", f"standard error, {words}", "logits", flat(arrays[f"{name}_error"])),
        (f"{name}_p", f"p, {words}", "", flat(arrays[f"{name}_p"])),
        (f"{name}_p_max", f"p by the largest score, {words}", "", flat(arrays[f"{name}_p_max"])),
        (f"{name}_p_holm", f"p after Holm, {words}", "", flat(arrays[f"{name}_p_holm"])),
        (f"{name}_significant", f"{words} head", "", flat(arrays[f"{name}_significant"]) > 0),
    ]


TABLES: dict[str, Callable[[Result, View], Table]] = {
    **{kind.name: of_kind(kind) for kind in KINDS},
    "heads": heads,
}
