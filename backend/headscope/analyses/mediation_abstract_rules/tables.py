"""The table twins of the abstract rules' figures: a row for each head."""

from __future__ import annotations

from collections.abc import Callable

from headscope.analyses.columns import Column, Table, flat, places, table
from headscope.analyses.mediation_abstract_rules.result import AbstractRulesResult
from headscope.analyses.mediation_abstract_rules.schema import KINDS, Kind
from headscope.figures.view import View


def of_kind(kind: Kind) -> Callable[[AbstractRulesResult, View], Table]:
    """One kind's scores and p-values."""

    def rows(result: AbstractRulesResult, view: View) -> Table:
        return table([*places(result.model), *_columns(result, kind)])

    return rows


def heads(result: AbstractRulesResult, view: View) -> Table:
    """All kinds."""
    return table([*places(result.model), *(column for kind in KINDS for column in _columns(result, kind))])


def _columns(result: AbstractRulesResult, kind: Kind) -> list[Column]:
    name, words = kind.name, kind.words
    return [
        (name, f"{words} score, mean over pairs", "logits", flat(result.score[name])),
        (f"{name}_error", f"standard error, {words}", "logits", flat(result.error[name])),
        (f"{name}_p", f"p, {words}", "", flat(result.p[name])),
        (f"{name}_p_max", f"p by the largest score, {words}", "", flat(result.p_max[name])),
        (f"{name}_p_holm", f"p after Holm, {words}", "", flat(result.p_holm[name])),
        (f"{name}_significant", f"{words} head", "", flat(result.significant[name]) > 0),
    ]
