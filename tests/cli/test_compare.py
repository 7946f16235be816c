"""``headscope compare`` on the runs that ship: files, notes on stderr, and what is refused."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from cli.conftest import Shell


@pytest.fixture(scope="module")
def gating(shipped: Shell) -> dict[str, list[str]]:
    """Ids of the shipped gating runs, by model."""
    runs = shipped.json("runs", "list", "--analysis", "chg", "--status", "done", "--json")["runs"]
    models = {run["model"] for run in runs}
    return {model: [run["id"] for run in runs if run["model"] == model] for model in models}


def test_a_table_of_shares_goes_to_a_file(
    shipped: Shell, gating: dict[str, list[str]], tmp_path: Path
) -> None:
    runs = [*gating["smollm2-135m"], *gating["headscope-2l"]]
    said = shipped("compare", "shares", *(run[:8] for run in runs), "-o", tmp_path / "table.csv").stderr
    assert "Wrote" in said
    rows = list(csv.DictReader((tmp_path / "table.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["run"] for row in rows[: len(runs)]] == runs
    assert {row["source"] for row in rows[: len(runs)]} == {"run"}
    assert all(row["source"].startswith("published") for row in rows[len(runs) :])
    assert all(
        0 <= float(row["facilitation_always"]) <= float(row["facilitation_any"]) <= 100 for row in rows
    )


def test_overlap_goes_to_stdout_as_json(shipped: Shell, gating: dict[str, list[str]]) -> None:
    runs = gating["smollm2-135m"]
    told = shipped.json("compare", "overlap", *runs, "--mode", "always", "--format", "json", "-o", "-")
    assert [run["run"] for run in told["runs"]] == runs
    assert len(told["rows"]) == 3 * len(runs) * (len(runs) - 1) / 2
    assert json.dumps(told, allow_nan=False)


def test_what_cannot_be_compared_is_answered_with_what_to_do(
    shipped: Shell, gating: dict[str, list[str]]
) -> None:
    two = (gating["smollm2-135m"][0], gating["headscope-2l"][0])
    said = shipped("compare", "overlap", *two, code=2).stderr
    assert "2 models" in said
    assert "correlation" in said
    assert "overlap" in shipped("compare", "nope", *two, code=2).stderr
    assert "svg" in shipped("compare", "shares", *two, "--format", "docx", code=2).stderr
    assert "nope" in shipped("compare", "shares", "nope", code=2).stderr
