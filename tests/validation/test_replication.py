"""Two disjoint sets of fits against each other: by hand, and on heads of known rates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analyses.test_chg_replication import run_of
from headscope.core.arrays import decode
from headscope.errors import Invalid
from headscope.figures.theme import palette
from headscope.validation.replicated import Pair, figure, pairs, shipped, with_pair
from headscope.validation.replication import TARGET, again, compared, table, to_json


def test_heads_that_come_again_are_counted_both_ways() -> None:
    """Four heads always, and one always in the first set but in 7 of 10 of the second; 20 never."""
    first, second = np.zeros((2, 10, 5, 5), bool)
    first[:, 0], second[:, 0] = True, True
    second[:3, 0, 4] = False
    found = again(first, second)
    assert (found.called, found.again) == (9, 8)
    assert not found.passed
    by_count = {row.count: row for row in found.rows}
    assert (by_count[10].heads, by_count[7].heads, by_count[0].heads) == (9, 1, 40)
    assert by_count[10].seen == (8 * 1 + 0.7) / 9
    assert by_count[7].seen == 1
    assert by_count[0].seen == 0


def test_what_replicates_comes_again_and_rates_are_calibrated() -> None:
    """Over 20 pairs of runs of 270 heads with known rates, as on a real run."""
    source, called, kept, errors, halves, across = np.random.default_rng(0), 0, 0, [], [], []
    for _ in range(20):
        rate = source.beta(0.44, 0.7, (30, 9))
        found = again(*(source.random((10, 30, 9)) < rate for _ in range(2)))
        called, kept = called + found.called, kept + found.again
        errors.append(found.error)
        halves.append(np.mean([half for half in found.halves if half is not None]))
        across.append(found.across or 0.0)
    assert called > 400
    assert kept / called >= TARGET
    assert np.mean(errors) < 0.05
    assert abs(np.mean(halves) - np.mean(across)) < 0.02


def test_a_run_against_another_prints_a_table_for_each_role() -> None:
    source = np.random.default_rng(1)
    rate = source.beta(0.44, 0.7, (6, 4))
    one, other = (run_of(source.random((10, 6, 4)) < rate, np.zeros((10, 6, 4), bool)) for _ in range(2))
    found = compared(one, other)
    assert list(found) == ["needed", "harmful", "irrelevant"]
    lines = list(table(found, "tiny, pairs"))
    assert lines[0].startswith("| tiny, pairs | replicates")
    assert sum(line.startswith("| needed") for line in lines) == 2
    assert "| harmful | 0 | – | – / – | – | 0.0" in "\n".join(lines)
    assert to_json(found)["harmful"]["kept"] is None


def pair(task: str = "pairs", kept: float = 0.5) -> Pair:
    """Eight heads always with a role, eight with it in half of the fits."""
    source = np.random.default_rng(2)
    held = np.concatenate([np.ones((10, 2, 4), bool), source.random((10, 2, 4)) < kept], axis=1)
    one, other = run_of(held, np.zeros_like(held)), run_of(held[::-1], np.zeros_like(held))
    return Pair("tiny", task, 10, False, "headscope validate roles", to_json(compared(one, other)))


def test_a_summary_holds_a_pair_for_each_model_and_task(tmp_path: Path) -> None:
    file = tmp_path / "roles.json"
    assert pairs(file) == ()
    for one in (pair("first"), pair("second"), replace(pair("first", 0.9), fits=9)):
        file.write_bytes(with_pair(one, pairs(file)))
    told = pairs(file)
    assert [(one.task, one.fits) for one in told] == [("first", 9), ("second", 10)]
    assert all(one.passed for one in told)
    file.write_text('{"cells": []}')
    with pytest.raises(Invalid, match="isn’t a summary"):
        pairs(file)


def test_the_figure_has_a_dot_for_each_count_at_what_was_said_and_seen() -> None:
    one = pair()
    drawn = figure([one], palette("light"))
    dots = {trace["name"]: trace for trace in drawn["data"] if "text" in trace}
    rows = one.roles["needed"]["rows"]
    needed = dots["needed: tiny, pairs"]
    np.testing.assert_allclose(decode(needed["x"]), [100 * row["predicted"] for row in rows], rtol=1e-6)
    np.testing.assert_allclose(decode(needed["y"]), [100 * row["seen"] for row in rows], rtol=1e-6)
    assert needed["text"][-1] == "16 heads, in 10 of 10 fits"


def test_every_pair_that_ships_came_again() -> None:
    """What README and pages call *replicates*: nine in ten have the role in eight of ten other fits."""
    for one in shipped():
        assert one.fits >= 10
        for role in one.roles.values():
            assert role["kept"] is None or role["kept"] >= TARGET, (one.name, role["kept"])
