"""Fits on permuted targets: further pieces, their gates, what they tell of each head, added to, stopped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from analyses.gating_runs import PARAMS, TASK, pieces_of, run, spec_of
from headscope.analyses import figures
from headscope.analyses.chg import CHG
from headscope.analyses.chg.phases import phase
from headscope.analyses.chg.result import ChgResult, headline
from headscope.analyses.chg.schema import ChgParams
from headscope.core.gating.fit import FitState, advance, initial_logits
from headscope.tasks.permuted import permuted
from micro.planted import planted_model

NULL = PARAMS.model_copy(update={"null_fits": 2, "steps": 3})
PLAIN = NULL.model_copy(update={"null_fits": 0})


@pytest.fixture(scope="module")
def found() -> ChgResult:
    return run(NULL)


def test_they_come_after_all_other_pieces_whose_keys_stay() -> None:
    plain = [piece.key for piece in CHG.plan(spec_of(PLAIN))]
    with_null = [piece.key for piece in CHG.plan(spec_of(NULL))]
    assert with_null[: len(plain)] == plain
    assert with_null[len(plain) :] == [
        f"null-{phase}/{seed}-{seed}/3" for seed in (0, 1) for phase in ("zero", "plus", "minus")
    ]


def test_they_are_fits_of_one_seed_on_targets_that_it_permutes(found: ChgResult) -> None:
    model = planted_model()
    examples = permuted(TASK.examples(None, "train"), 1)
    state = FitState.fresh(initial_logits([1], 2, 4, model.dtype))
    zero = advance(model, examples, [1], phase("zero", NULL), state)
    minus = advance(model, examples, [1], phase("minus", NULL), FitState.fresh(zero.logits))
    assert found.null_minus is not None
    np.testing.assert_allclose(found.null_minus[1], minus.gates[0], rtol=1e-5)


def test_the_other_fits_do_not_notice_them(found: ChgResult) -> None:
    plain = run(PLAIN)
    assert plain.null_plus is None
    assert plain.discoveries() == {}
    np.testing.assert_array_equal(plain.g_minus, found.g_minus)
    assert set(found.arrays) - set(plain.arrays) == {"null_plus", "null_minus"}
    assert "null_fits" not in ChgParams.identifying(PLAIN.model_dump())
    assert ChgParams.identifying(NULL.model_dump())["null_fits"] == 2


def test_added_to_a_run_its_null_fits_are_kept_and_more_made(found: ChgResult) -> None:
    more = NULL.model_copy(update={"seeds": 4, "null_fits": 3, "adds_to": "earlier"})
    added = run(more, inputs={"adds_to": found})
    whole = run(more.model_copy(update={"adds_to": None}))
    for name in ("null_plus", "null_minus", "g_plus"):
        np.testing.assert_allclose(added.arrays[name], whole.arrays[name], rtol=1e-6, atol=1e-7)
    before = replace(found, params={k: v for k, v in found.params.items() if k != "null_fits"})
    assert len(run(more, inputs={"adds_to": before}).arrays["null_plus"]) == 3


def test_a_stopped_run_has_those_that_ended() -> None:
    done = pieces_of(NULL)
    some = {key: kept for key, kept in done.items() if not key.startswith("null-minus/1")}
    part = CHG.partial(spec_of(NULL), some) if CHG.partial else None
    assert isinstance(part, ChgResult)
    assert part.null_plus is not None
    assert len(part.null_plus) == 1


def planted(null_rate: float) -> ChgResult:
    """24 heads, the first eight needed in each of ten fits; permuted targets need any at this rate."""
    from analyses.test_chg_replication import run_of

    needed = np.zeros((10, 6, 4), bool)
    needed[:, :2] = True
    null = np.random.default_rng(0).random((5, 6, 4)) < null_rate
    minus, plus = ((0.1 + 0.8 * part).astype(np.float32) for part in (null, np.ones(null.shape)))
    plain = run_of(needed, np.zeros_like(needed))
    return replace(plain, null_minus=minus, null_plus=plus)


def test_heads_stand_out_where_permuted_targets_do_not_need_them() -> None:
    run = planted(0.05)
    beyond = run.discoveries()["needed"]
    assert beyond.found[:2].mean() > 0.7
    assert not beyond.found[2:].any()
    assert headline(run)["discovered_needed"] == beyond.found.mean()
    names = [column["name"] for column in figures.table(run, "roles")["columns"]]
    assert {"null_needed", "p_needed", "q_harmful"} <= set(names)
    figure = figures.build(run, "discoveries")
    assert f"{int(beyond.found.sum())} needed and 0 harmful" in figure["layout"]["meta"]["reading"]
    rows = figures.table(run, "discoveries")["rows"]
    assert len(rows) == 24


def test_nothing_stands_out_where_they_need_them_as_often() -> None:
    assert not planted(0.95).discoveries()["needed"].found.any()


def test_without_them_the_figure_says_how_to_get_them() -> None:
    meta = figures.build(run(PLAIN), "discoveries")["layout"]["meta"]
    assert meta["absent"]
    assert "null_fits" in meta["reading"]
