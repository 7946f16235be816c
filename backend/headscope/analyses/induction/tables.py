"""The table twins of induction's figures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headscope.analyses.columns import Column, Table, flat, over_seeds, places, quietly, spread, table
from headscope.analyses.induction.result import InductionResult
from headscope.core.patterns.scores import ABOVE, SCORES
from headscope.figures.view import View


def score(name: str) -> Callable[[InductionResult, View], Table]:
    """A row for each head: one score's mean over draws, spread, lowest and highest draw."""
    unit = next(score.unit or "" for score in SCORES if score.name == name)

    def rows(result: InductionResult, view: View) -> Table:
        values = result.named_by(name)
        columns: list[Column] = [
            *places(result.model),
            ("mean", "mean over draws", unit, flat(over_seeds(values, "every"))),
            ("sd", "sd over draws", unit, flat(spread(values))),
            ("low", "lowest draw", unit, flat(over_seeds(values, "always"))),
            ("high", "highest draw", unit, flat(over_seeds(values, "any"))),
        ]
        if values is not result.score(name):
            weight = flat(over_seeds(result.score(name), "every"))
            columns.append(("weight", "weight as it is, mean over draws", unit, weight))
        return table(columns)

    return rows


def heads(result: InductionResult, view: View) -> Table:
    """A row for each head, the strongest induction head first: all scores, mean and spread over draws."""
    columns = places(result.model)
    for each in SCORES:
        values, unit = result.score(each.name), each.unit or ""
        columns += [
            (f"{each.name}_mean", each.title.lower(), unit, flat(over_seeds(values, "every"))),
            (f"{each.name}_sd", f"{each.title.lower()}, sd over draws", unit, flat(spread(values))),
        ]
    for each in SCORES:
        if each.name in ABOVE and result.above:
            above, words = result.named_by(each.name), f"{each.title.lower()}, above its columns"
            columns += [
                (f"{each.name}_above_mean", words, "", flat(over_seeds(above, "every"))),
                (f"{each.name}_above_sd", f"{words}, sd over draws", "", flat(spread(above))),
            ]
    order = np.argsort(-flat(over_seeds(result.named_by("induction"), "every")), kind="stable")
    return table([(name, title, unit, values[order]) for name, title, unit, values in columns])


def loss(result: InductionResult, view: View) -> Table:
    """A row for each token of the sequence: which copy it is in, its loss over draws."""
    curves = result.loss
    position = np.arange(curves.shape[1])
    columns: list[Column] = [
        ("position", "position", "", position),
        ("copy", "copy (0: BOS)", "", np.searchsorted(result.copies_start, position, side="right")),
        ("mean", "loss, mean over draws", "nats", over_seeds(curves, "every")),
        ("sd", "sd over draws", "nats", spread(curves)),
        ("low", "lowest draw", "nats", over_seeds(curves, "always")),
        ("high", "highest draw", "nats", over_seeds(curves, "any")),
    ]
    return table(columns)


def ablation(result: InductionResult, view: View) -> Table:
    """A row for each head that was gated off: by how much the second copy's loss rises."""
    gone = result.ablated_heads
    columns: list[Column] = [("layer", "layer", "", gone[:, 0]), ("head", "head", "", gone[:, 1])]
    for way, words, rise in (
        ("free", "patterns free", result.rise_free),
        ("frozen", "patterns held", result.rise_frozen),
    ):
        columns += [
            (f"{way}_mean", f"rise of the second copy's loss, {words}", "nats", over_seeds(rise, "every")),
            (f"{way}_sd", f"sd over draws, {words}", "nats", spread(rise)),
        ]
    return table(columns)


def copies(result: InductionResult) -> tuple[float, float]:
    """Mean loss of the first and of the second copy, nats."""
    first, second = (float(quietly(np.nanmean, loss)) for loss in (result.loss_first, result.loss_second))
    return first, second
