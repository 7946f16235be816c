"""The table twins of sequential ablation's figures: with the heads in the order in which they are taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from headscope.analyses.columns import Column, Table, over_seeds, table
from headscope.analyses.sequential_ablation.result import SequentialAblationResult
from headscope.core.gating.roles import SCORE_NAMES
from headscope.figures.view import Mode, View

_MODES: tuple[tuple[str, Mode], ...] = (("mean", "every"), ("lowest", "always"), ("highest", "any"))
_NAMED = 4


def curves(result: SequentialAblationResult, view: View) -> Table:
    """A row for each number of heads: delta by order, and which heads joined since the row above."""
    columns: list[Column] = [("k", "heads taken", "", result.k.astype(int))]
    for index, name in enumerate(SCORE_NAMES):
        columns += _three(result.delta[index], f"delta_{name}", f"delta by {name}")
    columns += _three(result.random_delta, "delta_random", "delta by random orders")
    for index, name in enumerate(SCORE_NAMES):
        words = f"heads that joined by {name} (of {len(result.seeds)} seeds)"
        columns.append((f"joined_{name}", words, "", np.array(joining(result, index), object)))
    return table(columns)


def forms(result: SequentialAblationResult, view: View) -> Table:
    """A row for each number of heads: the log-probability with them closed and open, the mean over seeds."""
    columns: list[Column] = [("k", "heads taken", "", result.k.astype(int))]
    for index, name in enumerate(SCORE_NAMES):
        for form, of_score in (("closed", result.closed), ("opened", result.opened)):
            values = over_seeds(of_score[index], "every")
            columns.append((f"{form}_{name}", f"log-probability, {form}, by {name}", "nats", values))
    uniform = np.full(len(result.k), result.uniform)
    columns.append(("uniform", "log-probability, each token alike", "nats", uniform))
    return table(columns)


def seeds(result: SequentialAblationResult, view: View) -> Table:
    """A row for each order and number of heads, with the heads that joined since the row above, in order."""
    rows = list(_orders(result))
    names = ("seed", "order", "k", "delta", "closed", "opened", "joined")
    titles = (
        "seed",
        "order",
        "heads taken",
        "delta",
        "log-probability, closed",
        "log-probability, opened",
        "heads that joined, in order",
    )
    units = ("", "", "", "nats", "nats", "nats", "")
    columns: list[Column] = [
        (name, title, unit, np.array(values, object))
        for name, title, unit, values in zip(names, titles, units, zip(*rows, strict=True), strict=True)
    ]
    return table(columns)


def joining(result: SequentialAblationResult, index: int) -> list[str]:
    """For each number of heads those that most seeds have taken since the number before, and how many do."""
    order, k = result.order[index], result.k.astype(int)
    texts = [""]
    for before, after in pairwise(k.tolist()):
        found = Counter(order[:, before:after].reshape(-1).tolist())
        some = [_counted(result, flat, times) for flat, times in found.most_common(_NAMED)]
        more = len(found) - len(some)
        texts.append(", ".join(some) + (f" and {more} more" if more else ""))
    return texts


def _counted(result: SequentialAblationResult, flat: int, times: int) -> str:
    name = _name(result, flat)
    return name if len(result.seeds) == 1 else f"{name} ({times}/{len(result.seeds)})"


def _three(values: np.ndarray, name: str, words: str) -> list[Column]:
    return [
        (f"{name}_{mode}", f"{words}, {mode}", "nats", over_seeds(values, which)) for mode, which in _MODES
    ]


def _orders(result: SequentialAblationResult) -> Iterator[tuple[Any, ...]]:
    by_score = result.delta, result.closed, result.opened
    at_random = result.random_delta, result.random_closed, result.random_opened
    for index, name in enumerate(SCORE_NAMES):
        for place, seed in enumerate(result.seeds):
            numbers = (part[index, place] for part in by_score)
            yield from _rows(result, seed, name, result.order[index, place], *numbers)
    for number, place in enumerate(result.random_seed.tolist()):
        numbers = (part[number] for part in at_random)
        words = f"random {number + 1}"
        yield from _rows(result, result.seeds[place], words, result.random_order[number], *numbers)


def _rows(
    result: SequentialAblationResult, seed: int, words: str, order: np.ndarray, *numbers: np.ndarray
) -> Iterator[tuple[Any, ...]]:
    k = result.k.astype(int).tolist()
    for row, (before, after) in enumerate(pairwise([0, *k])):
        heads = " ".join(_name(result, flat) for flat in order[before:after].tolist())
        yield (seed, words, k[row], *(values[row] for values in numbers), heads)


def _name(result: SequentialAblationResult, flat: int) -> str:
    layer, head = divmod(int(flat), result.model.n_heads)
    return f"{layer}.{head}"
