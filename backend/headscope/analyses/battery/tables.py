"""The table twins of a battery's figures. Prompts are numbered from 1 in tables, rows from 0 in arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from headscope.analyses.battery.result import BatteryResult, OverPrompts
from headscope.analyses.battery.tally import TOP
from headscope.analyses.columns import Column, Table, flat, places, table
from headscope.core.patterns.scores import SCORES, Score
from headscope.figures.view import View


def score(index: int) -> Callable[[BatteryResult, View], Table]:
    """A row for each head: one score's mean, spread and count over prompts, and its strongest prompts."""

    def rows(result: BatteryResult, view: View) -> Table:
        each = SCORES[index]
        found = result.over_prompts(each.name)
        columns = [*places(result.model), *_columns(each, found, "")]
        if found.queries is not None:
            weight = flat(result.weights(each.name).mean)
            columns.append(("weight", "weight as it is, mean over prompts", each.unit or "", weight))
        return table(columns)

    return rows


def heads(result: BatteryResult, view: View) -> Table:
    """A row for each head, the strongest induction head first: all scores with their strongest prompts."""
    columns = places(result.model)
    for each in SCORES:
        columns += _columns(each, result.weights(each.name), each.name)
    for each in SCORES:
        found = result.over_prompts(each.name)
        if found.queries is not None:
            above = replace(each, title=f"{each.title}, above its columns")
            columns += _columns(above, found, f"{each.name}_above")
    mean = flat(result.over_prompts("induction").mean)
    order = np.argsort(-np.where(np.isfinite(mean), mean, -np.inf), kind="stable")
    return table([(name, title, unit, values[order]) for name, title, unit, values in columns])


def prompts(result: BatteryResult, view: View) -> Table:
    """A row for each prompt: its length, its repeats, its losses, whether it was too long and left out."""
    columns: list[Column] = [
        ("prompt", "prompt number", "", np.arange(1, len(result.n_tokens) + 1)),
        ("tokens", "tokens", "", result.n_tokens),
        ("repeats", "tokens that stood before", "", result.n_repeats),
        ("loss", "mean loss", "nats", result.loss),
        ("loss_first", "loss of tokens seen for the first time", "nats", result.loss_first),
        ("loss_repeat", "loss of repeats after a repeat", "nats", result.loss_repeat),
        ("skipped", "too long, skipped", "", result.skipped.astype(bool)),
    ]
    return table(columns)


def _columns(score: Score, found: OverPrompts, prefix: str) -> list[Column]:
    """What is known of one score, its columns named after it where ``prefix`` is given."""
    start, words = (f"{prefix}_", f"{score.title.lower()}, ") if prefix else ("", "")
    unit = score.unit or ""
    columns: list[Column] = [
        (f"{start}mean", f"{words}mean over prompts", unit, flat(found.mean)),
        (f"{start}sd", f"{words}sd over prompts", unit, flat(found.sd)),
        (f"{start}count", f"{words}prompts with a value", "", flat(found.count)),
    ]
    for place in range(TOP):
        number = found.top[..., place].astype(float)
        value = flat(found.top_value[..., place])
        ordinal = ("strongest", "second", "third")[place]
        columns += [
            (f"{start}top{place + 1}", f"{words}{ordinal} prompt", "", _numbers(flat(number))),
            (f"{start}top{place + 1}_value", f"{words}value there", unit, value),
        ]
    return columns


def _numbers(rows: np.ndarray) -> np.ndarray:
    """Rows from 0 as prompt numbers from 1; None where there is no prompt (-1)."""
    return np.array([int(row) + 1 if row >= 0 else None for row in rows], dtype=object)
