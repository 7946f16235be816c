"""The table twins of a battery's figures. Prompts are numbered from 1 in tables, rows from 0 in arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from headscope.analyses.base import Result
from headscope.analyses.battery.tally import TOP
from headscope.analyses.columns import Column, Table, flat, places, table
from headscope.core.patterns.scores import SCORES, Score
from headscope.figures.view import View


def score(index: int) -> Callable[[Result, View], Table]:
    """A row for each head: one score's mean, spread and count over prompts, and its strongest prompts."""

    def rows(result: Result, view: View) -> Table:
        return table([*places(result.model), *_columns(result, index, "")])

    return rows


def heads(result: Result, view: View) -> Table:
    """A row for each head, the strongest induction head first: all scores with their strongest prompts."""
    columns = places(result.model)
    for index, each in enumerate(SCORES):
        columns += _columns(result, index, each.name)
    mean = flat(result.arrays["mean"][0])
    order = np.argsort(-np.where(np.isfinite(mean), mean, -np.inf), kind="stable")
    return table([(name, title, unit, values[order]) for name, title, unit, values in columns])


def prompts(result: Result, view: View) -> Table:
    """A row for each prompt: its length, its repeats, its losses, whether it was too long and left out."""
    arrays = result.arrays
    columns: list[Column] = [
        ("prompt", "prompt number", "", np.arange(1, len(arrays["n_tokens"]) + 1)),
        ("tokens", "tokens", "", arrays["n_tokens"]),
        ("repeats", "tokens that stood before", "", arrays["n_repeats"]),
        ("loss", "mean loss", "nats", arrays["loss"]),
        ("loss_first", "loss of tokens seen for the first time", "nats", arrays["loss_first"]),
        ("loss_repeat", "loss of repeats after a repeat", "nats", arrays["loss_repeat"]),
        ("skipped", "too long, skipped", "", arrays["skipped"].astype(bool)),
    ]
    return table(columns)


TABLES: dict[str, Callable[[Result, View], Table]] = {
    **{each.name: score(index) for index, each in enumerate(SCORES)},
    "heads": heads,
    "prompts": prompts,
}


def _columns(result: Result, index: int, prefix: str) -> list[Column]:
    """What is known of one score, its columns named after it where ``prefix`` is given."""
    score: Score = SCORES[index]
    start, words = (f"{prefix}_", f"{score.title.lower()}, ") if prefix else ("", "")
    unit, arrays = score.unit or "", result.arrays
    columns: list[Column] = [
        (f"{start}mean", f"{words}mean over prompts", unit, flat(arrays["mean"][index])),
        (f"{start}sd", f"{words}sd over prompts", unit, flat(arrays["sd"][index])),
        (f"{start}count", f"{words}prompts with a value", "", flat(arrays["count"][index])),
    ]
    for place in range(TOP):
        number = arrays["top"][index, ..., place].astype(float)
        ordinal = ("strongest", "second", "third")[place]
        columns += [
            (f"{start}top{place + 1}", f"{words}{ordinal} prompt", "", _numbers(flat(number))),
            (
                f"{start}top{place + 1}_value",
                f"{words}value there",
                unit,
                flat(arrays["top_value"][index, ..., place]),
            ),
        ]
    return columns


def _numbers(rows: np.ndarray) -> np.ndarray:
    """Rows from 0 as prompt numbers from 1; None where there is no prompt (-1)."""
    return np.array([int(row) + 1 if row >= 0 else None for row in rows], dtype=object)
