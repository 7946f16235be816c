"""A head that closing costs much isn't said not to matter, whatever its gates did."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from analyses.circuit_runs import two_layer
from analyses.specs import cut_small
from headscope.analyses import figures
from headscope.analyses.base import Spec
from headscope.analyses.chg import CHG
from headscope.analyses.chg.closing import CHECKED_ROWS
from headscope.analyses.chg.result import BOUND, ChgResult
from headscope.analyses.chg.schema import PRESETS, ChgParams
from headscope.analyses.in_place import compute
from headscope.core.gating.evaluation import evaluate
from headscope.core.gating.roles import IRRELEVANT, UNDECIDED, roles
from headscope.core.model.head_model import HeadModel
from headscope.gallery import shipped
from headscope.tasks.catalogue import TaskCatalogue

TASK = TaskCatalogue([]).get("induction")
SMALL = {"seeds": 2, "steps": 1, "batch_size": 2, "n_train": 4, "n_test": 5}


@pytest.fixture(scope="module")
def model() -> HeadModel:
    return two_layer()


def run(model: HeadModel, **params: Any) -> ChgResult:
    spec = Spec(ChgParams(**{**SMALL, "check_closed": True, **params}), model.info, TASK)
    return ChgResult.from_json(json.loads(json.dumps(compute(CHG, spec, model).to_json())))


@pytest.fixture(scope="module")
def result(model: HeadModel) -> ChgResult:
    return run(model)


def test_the_cost_of_a_head_is_its_leave_one_out_on_held_out_rows(
    model: HeadModel, result: ChgResult
) -> None:
    assert result.closed_rise is not None
    rows = TASK.examples(model.tokenizer, "test", limit=5, n_ctx=model.info.n_ctx)
    gates = torch.ones(3, model.info.n_layers, model.info.n_heads)
    gates[1, 0, 3] = gates[2, 1, 5] = 0
    found = evaluate(model, rows, gates).log_probability
    assert float(result.closed_rise[0, 3]) == pytest.approx(float(found[0] - found[1]), abs=1e-4)
    assert float(result.closed_rise[1, 5]) == pytest.approx(float(found[0] - found[2]), abs=1e-4)
    assert len(rows) == 5 < CHECKED_ROWS


def test_pieces_cut_smaller_give_the_same(
    model: HeadModel, result: ChgResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_small(monkeypatch)
    spec = Spec(ChgParams(**SMALL, check_closed=True), model.info, TASK)
    keys = [piece.key for piece in CHG.plan(spec) if piece.key.startswith("closed/")]
    assert keys == ["closed/0-0", "closed/1-1"]
    assert result.closed_rise is not None
    again = run(model)
    assert again.closed_rise is not None
    np.testing.assert_allclose(again.closed_rise, result.closed_rise, atol=1e-4)


def test_the_previous_token_head_is_not_said_not_to_matter(result: ChgResult) -> None:
    assert result.closed_rise is not None
    assert result.closed_rise[0, 3] > 5
    plus, minus = np.full_like(result.g_plus, 0.9), np.full_like(result.g_minus, 0.4)
    soft = replace(result, g_plus=plus, g_minus=minus)
    assert (roles(plus, minus) == IRRELEVANT).all()
    assert (soft.codes(0.5)[:, 0, 3] == UNDECIDED).all()
    assert result.costly is not None
    assert (soft.codes(0.5) == np.where(result.costly, UNDECIDED, IRRELEVANT)).all()
    assert (0, 3) in soft.spared(0.5)
    for name in ("roles", "irrelevance"):
        reading = figures.build(soft, name)["layout"]["meta"]["reading"]
        assert "The gates of 0.3, 1.5" in reading
        assert f"more than {BOUND}" in reading
    table = figures.table(soft, "roles")
    assert [column["name"] for column in table["columns"][-2:]] == ["closed_rise", "closed_rise_se"]


def test_with_the_shipped_gates_it_never_reads_as_not_mattering(result: ChgResult) -> None:
    known = shipped.read(shipped.FOLDER / "headscope-2l-induction.json.gz").result
    assert isinstance(known, ChgResult)
    found = replace(known, closed_rise=result.closed_rise, closed_rise_se=result.closed_rise_se)
    plain = roles(found.g_plus, found.g_minus)[:, 0, 3]
    assert (plain == IRRELEVANT).mean() > 0.5, "what its gates alone would say"
    assert not (found.codes(0.5)[:, 0, 3] == IRRELEVANT).any()
    assert (0, 3) in found.spared(0.5)


def test_without_the_check_roles_are_the_gates_and_the_id_is_yesterdays(
    model: HeadModel, result: ChgResult
) -> None:
    plain = run(model, check_closed=False)
    assert plain.closed_rise is plain.costly is None
    assert plain.spared(0.5) == []
    np.testing.assert_array_equal(plain.codes(0.5), roles(plain.g_plus, plain.g_minus))
    assert "check_closed" not in ChgParams.identifying(plain.params)
    assert all(preset["check_closed"] for preset in PRESETS.values())


def test_seeds_can_be_added_to_a_run_without_it(model: HeadModel) -> None:
    first = run(model, check_closed=False)
    params = ChgParams(**{**SMALL, "seeds": 3, "check_closed": True, "adds_to": "a" * 20})
    spec = Spec(params, model.info, TASK, {"adds_to": first})
    more = compute(CHG, spec, model)
    assert isinstance(more, ChgResult)
    assert more.closed_rise is not None
    assert len(more.seeds) == 3
