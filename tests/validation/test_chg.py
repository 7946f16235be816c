"""`headscope validate chg`: planted roles come out of a real fit; verdict and exit code follow."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from headscope.analyses.base import Progress
from headscope.cli import app
from headscope.validation.chg import QUICK_SETTINGS, Trial, to_json, trial, verdict
from headscope.validation.planted import ROLES
from headscope.validation.suite import Case

TINY = QUICK_SETTINGS.model_copy(update={"seeds": 6, "steps": 120, "within_clamp": True})


@pytest.fixture(scope="module")
def fitted() -> tuple[Trial, Sequence[Progress]]:
    reports: list[Progress] = []
    return trial(Case("small", "grouped", 0.1, 2), TINY, reports.append), reports


def test_every_planted_role_is_found(fitted: tuple[Trial, Sequence[Progress]]) -> None:
    one, _ = fitted
    assert one.premises.hold
    assert one.found == one.planted
    assert verdict([one]).passed


def test_progress_runs_to_the_end(fitted: tuple[Trial, Sequence[Progress]]) -> None:
    fractions = [progress.fraction for progress in fitted[1]]
    assert fractions == sorted(fractions)
    assert fractions[-1] > 0.9


def test_what_is_written_holds_planted_and_found_heads_and_every_gate(
    fitted: tuple[Trial, Sequence[Progress]],
) -> None:
    one, _ = fitted
    content = json.loads(json.dumps(to_json([one], TINY)))
    (model,) = content["models"]
    assert content["passed"]
    assert model["planted"]["needed"] == [f"{layer}.{head}" for layer, head in one.planted["needed"]]
    assert {content["overall"][role]["recall"] for role in ROLES} == {1.0}
    np.testing.assert_allclose(model["g_minus"], one.g_minus, atol=1e-4)


def test_a_missed_head_fails_and_a_drowned_model_counts_for_nothing(
    fitted: tuple[Trial, Sequence[Progress]],
) -> None:
    one, _ = fitted
    missed = replace(one, found={**one.found, "harmful": one.found["harmful"][:1]})
    assert verdict([one, missed]).matches["harmful"].recall == 0.75
    assert not verdict([one, missed]).passed
    drowned = replace(missed, premises=replace(missed.premises, useless=1.0))
    assert verdict([one, drowned]).passed
    assert not verdict([drowned]).passed


def test_the_pair_must_be_found_in_most_models(fitted: tuple[Trial, Sequence[Progress]]) -> None:
    one, _ = fitted
    unfound = replace(one, found={**one.found, "redundant": ()})
    assert verdict([one] * 9 + [unfound]).passed
    assert not verdict([one] * 8 + [unfound]).passed


def test_the_command_prints_a_table_writes_json_and_fails_where_noise_drowns_all(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    words = ["validate", "chg", "--size", "small", "--noise", "3", "--draws", "1", "--json", str(file)]
    result = CliRunner().invoke(app, words, env={"COLUMNS": "200", "HEADSCOPE_DATA_DIR": str(tmp_path)})
    assert result.exit_code == 1
    assert "0 of 1" in result.stdout
    assert json.loads(file.read_text())["models_counted"] == 0


def test_an_unknown_size_is_bad_input() -> None:
    result = CliRunner().invoke(app, ["validate", "chg", "--size", "huge"])
    assert result.exit_code == 2
    assert "small, medium, large" in result.stderr
