"""The table twins of agreement's figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headscope.analyses.agreement.methods import BY_NAME
from headscope.analyses.agreement.result import AgreementResult
from headscope.analyses.agreement.statistics import NUMBERS
from headscope.analyses.agreement.verdicts import Verdict
from headscope.analyses.columns import Column, Table, flat, places, table
from headscope.figures.view import View

_MEASURED = (
    ("closed", "closed", "nats"),
    ("at_answers", "closed at the answers only", "nats"),
    ("later_held", "closed, later heads held", "nats"),
    ("settled", "settled gate", ""),
    ("at_settled", "cost at that gate", "nats"),
    ("interaction", "more than the pair's parts", "nats"),
    ("in_minus", "closed under G−", "nats"),
    ("refitted", "closed, fitted again", "nats"),
    ("slope", "predicted by attribution patching", "nats"),
)
_STATISTICS = {
    "found": ("heads found", ""),
    "rho_facilitation": ("rank correlation with facilitation", ""),
    "p_facilitation": ("p", ""),
    "rho_interference": ("rank correlation with interference", ""),
    "p_interference": ("p", ""),
    "welch_t": ("Welch's t, facilitation of found against others", ""),
    "welch_p": ("p", ""),
    "precision": ("precision", "share"),
    "recall": ("recall", "share"),
}
_ORDER = {
    "heads": "heads",
    "rho": "rank correlation with facilitation",
    "low": "95 %, from",
    "high": "95 %, to",
    "detectable": "correlation seen in four of five runs",
    "reliability": "reliability of the measure",
    "detectable_true": "the same, of effects without errors",
}


def disagreements(result: AgreementResult, view: View) -> Table:
    """A row for each explained head: who finds it, who doesn't, why, and what was measured."""
    told = result.disagreements
    columns: list[Column] = [
        ("head", "head", "", words([each["head"] for each in told])),
        ("found", "found by", "", words([titles(each["found"]) for each in told])),
        ("missed", "not found by", "", words([titles(each["missed"]) for each in told])),
        ("why", "why", "", words([" ".join(why["text"] for why in each["why"]) for each in told])),
        ("kinds", "kind", "", words([", ".join(why["kind"] for why in each["why"]) for each in told])),
        ("strength", "how far apart", "", np.array([each["strength"] for each in told])),
        ("seeds", "seeds that need it", "share", np.array([each["seeds"] for each in told])),
    ]
    for name, title, unit in _MEASURED:
        values = [each["measured"].get(name) for each in told]
        columns.append((name, title, unit, np.array([np.nan if v is None else v for v in values], float)))
    if not told:
        columns = [(name, title, unit, words(["none"])) for name, title, unit, _ in columns]
    return table(columns)


def heads(result: AgreementResult, view: View) -> Table:
    """A row for each head: facilitation and interference with their spread, every method and its verdict, and
    whether that stands beyond its error.
    """
    columns = places(result.model)
    for score, values in (("facilitation", result.facilitation), ("interference", result.interference)):
        for word, title in (("mean", "mean"), ("low", "lowest seed"), ("high", "highest seed")):
            columns.append((f"{score}_{word}", f"{score}, {title}", "", flat(values[word])))
    for name, seen in result.seen.items():
        method = BY_NAME[name]
        columns.append((name, method.title.lower(), method.unit, flat(seen.effect)))
        columns.append((f"{name}_found", f"found by {method.title.lower()}", "", flat(seen.found)))
        if seen.sure is not None:
            columns.append((f"{name}_sure", f"{method.title.lower()}, surely", "", _said(seen.sure)))
    return table(columns)


def correlations(result: AgreementResult, view: View) -> Table:
    """A row for each measure: its rank correlation with every other."""
    names = correlated(result)
    found = result.correlations
    columns: list[Column] = [("measure", "measure", "", words([title for _, title in names]))]
    columns += [(name, title.lower(), "", found[:, index]) for index, (name, title) in enumerate(names)]
    return table(columns)


def finds(result: AgreementResult, view: View) -> Table:
    """A row for each method: heads found, precision, recall, Welch's t and rank correlations."""
    names = result.others
    numbers = result.statistics
    columns: list[Column] = [("method", "method", "", words([BY_NAME[name].title for name in names]))]
    for index, name in enumerate(NUMBERS):
        title, unit = _STATISTICS[name]
        columns.append((name, title, unit, numbers[:, index]))
    return table(columns)


def order(result: AgreementResult, view: View) -> Table:
    """A row for each method: how alike it and gating order the heads, and what would have been seen."""
    orders = result.orders
    columns: list[Column] = [
        ("method", "method", "", words([BY_NAME[name].title for name in orders] or ["none"])),
        ("outcome", "orders heads as gating does", "", words([o.outcome for o in orders.values()] or [""])),
    ]
    for name, title in _ORDER.items():
        values = [getattr(each, name) for each in orders.values()] or [np.nan]
        columns.append((name, title, "", np.array(values, float)))
    return table(columns)


def correlated(result: AgreementResult) -> list[tuple[str, str]]:
    """Names and titles of the correlation matrix' rows."""
    others = [(name, BY_NAME[name].title) for name in result.others]
    return [("gating", "Facilitation"), ("interference", "Interference"), *others]


def titles(names: Sequence[str]) -> str:
    """In words, with commas."""
    return ", ".join(BY_NAME[name].title.lower() for name in names)


def _said(sure: Verdict) -> Any:
    return words([("doesn't", "can't tell", "finds it")[value + 1] for value in sure.reshape(-1).tolist()])


def words(values: Sequence[str]) -> Any:
    """A column of text."""
    return np.array(values, dtype=object)
