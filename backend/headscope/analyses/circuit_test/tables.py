"""The table twins of a circuit test's figures."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from headscope.analyses.circuit_test.circuit import RANKINGS
from headscope.analyses.circuit_test.result import CircuitTestResult
from headscope.analyses.columns import Column, Table, flat, places, table
from headscope.core.gating.removal import best_first
from headscope.figures.view import View


def tests(result: CircuitTestResult, view: View) -> Table:
    """A row for each test: its statistic, its p, what it comes to."""
    columns: list[Column] = [
        ("test", "test", "", _words(test["title"] for test in result.tests)),
        ("statistic", "statistic", "", _words(test["statistic"] for test in result.tests)),
        ("value", "value", "", _numbers(test["value"] for test in result.tests)),
        ("p", "p", "", _numbers(test["p"] for test in result.tests)),
        (
            "outcome",
            "outcome",
            "",
            _words(test["outcome"] if test["p"] is not None else "a measure" for test in result.tests),
        ),
        ("verdict", "what was found", "", _words(test["verdict"] for test in result.tests)),
    ]
    return table(columns)


def curves(result: CircuitTestResult, view: View) -> Table:
    """A row for each size: faithfulness by ranking, and of random rankings."""
    random = result.random_curve
    columns: list[Column] = [
        ("kept_heads", "heads kept", "", result.kept_heads),
        ("share", "share of all heads", "share", result.kept_heads / result.n_heads),
        *(
            (name, f"faithfulness, {RANKINGS[name].lower()}", "share", values)
            for name, values in zip(result.rankings, result.curve, strict=True)
        ),
        ("random_mean", "faithfulness, random rankings, mean", "share", random.mean(axis=0)),
        ("random_low", "faithfulness, random rankings, lowest", "share", random.min(axis=0)),
        ("random_high", "faithfulness, random rankings, highest", "share", random.max(axis=0)),
    ]
    return table(columns)


def areas(result: CircuitTestResult, view: View) -> Table:
    """A row for each ranking: its areas, and what its best heads keep, as many as the circuit has."""
    random = [
        (statistic(result.random_cpr), statistic(result.random_cmd), at)
        for statistic, at in (
            (np.mean, result.share(result.random).mean()),
            (np.min, np.nan),
            (np.max, np.nan),
        )
    ]
    known = list(zip(result.cpr, result.cmd, result.at_size, strict=True))
    names = [*(RANKINGS[name] for name in result.rankings)]
    names += [f"Random rankings, {word}" for word in ("mean", "lowest", "highest")]
    cpr, cmd, at_size = np.array([*known, *random], np.float64).T
    columns: list[Column] = [
        ("ranking", "ranking", "", _words(names)),
        ("cpr", "CPR, area under faithfulness", "", cpr),
        ("cmd", "CMD, distance from the model", "", cmd),
        ("at_size", "faithfulness at the circuit's size", "share", at_size),
    ]
    return table(columns)


def random(result: CircuitTestResult, view: View) -> Table:
    """A row for the circuit and for each random one: alone, and the model without it."""
    alone = np.append(result.score_circuit, result.random)
    without = np.append(result.score_without, result.random_without)
    names = ["the circuit", *(f"random {number + 1}" for number in range(len(result.random)))]
    columns: list[Column] = [
        ("circuit", "circuit", "", _words(names)),
        ("alone", "the circuit alone", result.unit, alone),
        ("alone_faithfulness", "faithfulness of the circuit alone", "share", result.share(alone)),
        ("without", "the model without it", result.unit, without),
        ("without_faithfulness", "faithfulness of the model without it", "share", result.share(without)),
    ]
    return table(columns)


def completeness(result: CircuitTestResult, view: View) -> Table:
    """A row for each random subset K of the circuit."""
    columns: list[Column] = [
        ("knocked_out", "heads knocked out", "", result.subset_size),
        ("circuit", "faithfulness of the circuit without them", "share", result.subset_kept),
        ("model", "faithfulness of the model without them", "share", result.subset_whole),
        ("difference", "circuit less model", "share", result.subset_kept - result.subset_whole),
    ]
    return table(columns)


def minimality(result: CircuitTestResult, view: View) -> Table:
    """A row for each member, then for each head from outside that inflated the circuit."""
    where = np.concatenate([result.heads, result.inflated_heads]).astype(int)
    columns: list[Column] = [
        ("layer", "layer", "", where[:, 0]),
        ("head", "head", "", where[:, 1]),
        ("member", "in the circuit", "", np.arange(len(where)) < len(result.heads)),
        ("loss", "what knocking it out costs", result.unit, np.append(result.loss, result.inflated)),
        ("p", "p of a member", "", np.append(result.loss_p, np.full(len(result.inflated), np.nan))),
    ]
    return table(columns)


def heads(result: CircuitTestResult, view: View) -> Table:
    """A row for each head: whether it is in the circuit, its rank by each ranking."""
    columns: list[Column] = [*places(result.model), ("member", "in the circuit", "", flat(result.gates) > 0)]
    for name, score in zip(result.rankings, result.score, strict=True):
        rank = np.empty(score.size, int)
        rank[best_first(score)] = np.arange(1, score.size + 1)
        columns.append((f"rank_{name}", f"rank, {RANKINGS[name].lower()}", "", rank))
    return table(columns)


def _words(values: Iterable[str]) -> np.ndarray:
    return np.array(list(values), dtype=object)


def _numbers(values: Iterable[float | None]) -> np.ndarray:
    return np.array([np.nan if value is None else value for value in values], float)
