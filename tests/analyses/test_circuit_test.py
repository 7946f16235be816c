"""Tests of a circuit on planted models: the true one passes, one with a head less or more doesn't."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from analyses.test_sufficiency import gating
from figures.relative_samples import relatives
from figures.samples import circuit_test as sample
from headscope.analyses import figures
from headscope.analyses.base import Spec
from headscope.analyses.circuit_test import CIRCUIT_TEST
from headscope.analyses.circuit_test.circuit import circuit
from headscope.analyses.circuit_test.gates import offered
from headscope.analyses.circuit_test.result import CircuitTestResult, headline
from headscope.analyses.circuit_test.schema import CircuitTestParams
from headscope.analyses.in_place import compute
from headscope.analyses.offered_gates import AskedGates
from headscope.analyses.request import parse_params
from headscope.core.arrays import decode
from headscope.core.gating.evaluation import evaluate
from headscope.core.gating.removal import best_first, random_order
from headscope.core.model.head_list import as_text
from headscope.errors import Invalid, Refused
from headscope.validation.planted import Plan, build
from micro.model import MicroModel
from micro.planted import NEEDED, REDUNDANT, PlantedTask, planted_model
from services.results import changed

TASK = PlantedTask()
PAIR = ((0, 4), (1, 9))
WIDE = Plan(
    n_layers=2, n_heads=12, groups=12, vocab=16, d_model=64, match=8.0, favoured=0.0,
    kinds={PAIR[0]: "previous", PAIR[1]: "induction"},
)  # fmt: skip
"""Two heads of 24 do all; all others do nothing."""


def wide_model() -> MicroModel:
    made = build(WIDE)
    return MicroModel(made.W_E, made.W_pos, made.W_Q, made.W_K, made.W_V, made.W_O, made.W_U)


@cache
def under_test(heads: str, **more: int) -> CircuitTestResult:
    params = CircuitTestParams(
        heads=heads, **{"n_test": 24, "circuits": 39, "orders": 1, "subsets": 4, **more}
    )
    model = wide_model()
    return compute(CIRCUIT_TEST, Spec(params, model.info, TASK), model)


def outcomes(result: CircuitTestResult) -> dict[str, str]:
    return {test["name"]: test["outcome"] for test in result.tests}


def scored(model: MicroModel, gates: np.ndarray) -> float:
    import torch

    wide = torch.from_numpy(gates.astype(np.float64))[None]
    return evaluate(model, TASK.examples(None, "test", limit=6), wide).log_probability.item()


# -- what is planted is found -------------------------------------------------------------------------


def test_the_planted_pair_passes() -> None:
    result = under_test(as_text(PAIR))
    assert result.faithfulness == pytest.approx(1)
    assert outcomes(result) == {
        "equivalence": "shown", "independence": "open", "minimality": "shown", "sufficiency": "shown",
        "necessity": "open", "completeness": "open",
    }  # fmt: skip
    necessity = next(test for test in result.tests if test["name"] == "necessity")
    assert necessity["value"] > 0.9, (
        "one random circuit in six has a head of the pair, and then costs as much"
    )
    assert result.loss.min() > 1
    np.testing.assert_allclose(result.subset_kept, result.subset_whole, atol=1e-6)


def test_half_of_the_pair_is_refuted() -> None:
    result = under_test("1.9")
    assert outcomes(result)["equivalence"] == "refuted"
    assert result.faithfulness is not None
    assert result.faithfulness < 0.3
    assert outcomes(result)["necessity"] == "open", "the random circuits of one head may be the other half"


def test_a_head_too_many_is_named() -> None:
    result = under_test("0.4 1.9 1.0")
    assert outcomes(result)["minimality"] == "open"
    verdict = next(test["verdict"] for test in result.tests if test["name"] == "minimality")
    assert verdict.startswith("2 of 3 heads are shown to be needed")
    assert verdict.endswith("not shown of 1.0.")
    assert outcomes(result)["sufficiency"] == "shown"


def test_idle_heads_show_nothing() -> None:
    result = under_test("0.0 0.1 1.0")
    found = outcomes(result)
    assert found["equivalence"] == "refuted"
    assert (found["sufficiency"], found["necessity"], found["minimality"]) == ("open", "open", "open")
    assert found["independence"] == "open", "each example of this task has the same score"


def test_idle_circuits_are_called_good_no_more_often_than_said() -> None:
    """Of 22 heads that do nothing, drawn anew: no test may show that they matter."""
    draw, idle = np.random.default_rng(1), [divmod(n, 12) for n in range(24) if divmod(n, 12) not in PAIR]
    shown = {"minimality": 0, "sufficiency": 0, "necessity": 0}
    for _ in range(20):
        chosen = sorted(idle[place] for place in draw.permutation(len(idle))[:2])
        found = outcomes(under_test(as_text(chosen), n_test=20, circuits=19, subsets=1, permutations=19))
        for name in shown:
            shown[name] += found[name] == "shown"
    assert max(shown.values()) <= 3, "20 draws at 5 %: more than 3 happen once in sixty"


def test_a_backup_outside_makes_a_circuit_incomplete() -> None:
    """Without 0.2 the model has 1.1; the circuit hasn't."""
    model, heads = planted_model(), as_text((*NEEDED, REDUNDANT[0]))
    params = CircuitTestParams(heads=heads, n_test=6, circuits=3, orders=1, subsets=40)
    result = compute(CIRCUIT_TEST, Spec(params, model.info, TASK), model)
    backed = result.subset_whole > 0.99
    assert backed.any()
    assert result.subset_kept[backed].min() < 0.8
    assert "too few" in next(test["verdict"] for test in result.tests if test["name"] == "minimality")


# -- every number is an evaluation --------------------------------------------------------------------


def test_every_curve_is_of_the_first_heads_of_its_ranking() -> None:
    model, effects = planted_model(), relatives()
    arrays = {**effects.arrays, "direct": np.full((2, 4), np.nan, np.float32)}
    measured = changed(effects, arrays=arrays, task=gating().task, params={"split_seed": 0})
    params = CircuitTestParams(gating="g", relatives="r", fits=0.5, n_test=6, circuits=5, orders=2)
    spec = Spec(params, model.info, TASK, {"gating": gating(), "relatives": measured})
    result = compute(CIRCUIT_TEST, spec, model)
    assert list(result.rankings) == ["gating", "left_out", "path", "slope"], "direct shares weren't measured"
    ends = scored(model, np.zeros((2, 4))), scored(model, np.ones((2, 4)))
    assert (result.score_none, result.score_all) == pytest.approx(ends, rel=1e-6)

    def faithful(order: np.ndarray, count: int) -> float:
        gates = np.zeros(8)
        gates[order[:count]] = 1
        return (scored(model, gates.reshape(2, 4)) - ends[0]) / (ends[1] - ends[0])

    for score, curve in zip(result.score, result.curve, strict=True):
        expected = [faithful(best_first(score), count) for count in (1, 4, 8)]
        np.testing.assert_allclose(curve, expected, rtol=1e-5, atol=1e-6)
    for seed, curve in enumerate(result.random_curve):
        expected = [faithful(random_order(seed, 8), count) for count in (1, 4, 8)]
        np.testing.assert_allclose(curve, expected, rtol=1e-5, atol=1e-6)
    assert result.places == tuple(sorted((*NEEDED, *REDUNDANT)))
    assert result.at_size[0] == pytest.approx(faithful(best_first(gating().facilitation), 4), rel=1e-5)
    np.testing.assert_allclose(result.cpr, np.trapezoid(result.curve, [1 / 8, 1 / 2, 1], axis=1), rtol=1e-5)
    member = result.gates.copy()
    member[NEEDED[0]] = 0
    assert result.loss[0] == pytest.approx(scored(model, result.gates) - scored(model, member), rel=1e-5)
    inflating = tuple(result.inflated_heads[0].tolist())
    wider = result.gates.copy()
    wider[inflating] = 1
    assert result.inflated[0] == pytest.approx(scored(model, wider) - scored(model, result.gates), abs=1e-5)
    assert "favours" in " ".join(result.notes)


def test_pieces_that_are_cut_smaller_give_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = under_test(as_text(PAIR))
    spec = Spec(CircuitTestParams.model_validate(whole.params), wide_model().info, TASK)
    few = len(CIRCUIT_TEST.plan(spec))
    monkeypatch.setattr("headscope.analyses.cutting.PIECE_FLOP", 1e7)
    assert len(CIRCUIT_TEST.plan(spec)) > few
    cut = compute(CIRCUIT_TEST, spec, wide_model())
    for name, array in whole.arrays.items():
        np.testing.assert_allclose(cut.arrays[name], array, rtol=1e-5, atol=1e-6)


def test_a_task_without_wrong_answers_has_no_logit_difference() -> None:
    model, params = planted_model(), CircuitTestParams(heads="0.0", metric="logit_difference", n_test=4)
    with pytest.raises(Invalid) as refused:
        compute(CIRCUIT_TEST, Spec(params, model.info, TASK), model)
    assert refused.value.code == "no-counterfactual"


@pytest.mark.parametrize("kind", ["mean", "resample"])
def test_what_a_switched_off_head_gives_is_a_setting(kind: str) -> None:
    """An idle head gives nothing whatever it is replaced by, so the pair stays the whole of the model."""
    params = CircuitTestParams.model_validate(
        {"heads": as_text(PAIR), "ablation": kind, "n_test": 4, "circuits": 3, "orders": 1, "subsets": 1}
    )
    model = wide_model()
    result = compute(CIRCUIT_TEST, Spec(params, model.info, TASK), model)
    assert result.score_circuit == pytest.approx(result.score_all, abs=1e-6)
    assert any("switched off gives" in note for note in result.notes)
    zero = CircuitTestParams(heads="0.0").model_dump(mode="json")
    assert "ablation" not in CircuitTestParams.identifying(zero)


# -- which heads, and what is refused -----------------------------------------------------------------


def test_the_circuit_is_what_enough_fits_need() -> None:
    run = gating(seeds=4)
    g_minus = run.g_minus.copy()
    g_minus[0, 1, 1] = 0.0
    earlier = {"gating": changed(run, arrays={**run.arrays, "g_minus": g_minus})}

    def found(**params: float) -> tuple[tuple[int, int], ...]:
        return circuit(Spec(CircuitTestParams(gating="g", **params), run.model, TASK, earlier))

    assert found() == tuple(sorted((*NEEDED, REDUNDANT[0])))
    assert found(fits=0.75) == tuple(sorted((*NEEDED, *REDUNDANT)))
    assert found(threshold=0.9) == tuple(sorted(NEEDED))
    named = CircuitTestParams(gating="g", heads="L1H3")
    assert circuit(Spec(named, run.model, TASK, earlier)) == ((1, 3),)


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({}, "heads-missing"),
        ({"gating": "g", "threshold": 1.0}, "no-heads"),
        ({"heads": "2.0"}, "unknown-head"),
        ({"heads": "0.0 0.1 0.2 0.3 1.0 1.1 1.2 1.3"}, "whole-model"),
    ],
)
def test_what_is_no_circuit_is_refused(params: dict[str, object], code: str) -> None:
    spec = Spec(CircuitTestParams.model_validate(params), planted_model().info, TASK,
                {"gating": gating()} if "gating" in params else {})  # fmt: skip
    for ask in (CIRCUIT_TEST.estimate, CIRCUIT_TEST.plan):
        with pytest.raises(Invalid) as refused:
            ask(spec)
        assert refused.value.code == code


def test_a_steering_map_has_no_needed_heads_to_test() -> None:
    few = {**gating().arrays, "heldout_accuracy": np.full((4, 2), 0.1, np.float32)}
    values = {**gating().values, "n_test": 64}
    run = {"gating": changed(gating(), arrays=few, values=values)}
    with pytest.raises(Refused) as refused:
        circuit(Spec(CircuitTestParams(gating="g"), planted_model().info, TASK, run))
    assert refused.value.code == "steering-map"
    named = CircuitTestParams(gating="g", heads="1.3")
    assert circuit(Spec(named, planted_model().info, TASK, run)) == ((1, 3),)


def test_one_spelling_names_one_run_and_a_bad_entry_is_named() -> None:
    spellings = ("0.3, 1.5", "L1H5\nL0H3", "[[1, 5], [0, 3], [0, 3]]")
    assert {
        parse_params(CIRCUIT_TEST, None, {"heads": text}).model_dump()["heads"] for text in spellings
    } == {"0.3, 1.5"}
    assert CircuitTestParams(heads=" ").heads is None
    with pytest.raises(Invalid, match=r'heads: Line 1, column 5: "1-5" is no head\.'):
        parse_params(CIRCUIT_TEST, None, {"heads": "0.3 1-5"})


# -- what is told -------------------------------------------------------------------------------------


def test_where_there_is_nothing_to_be_faithful_to_no_share_is_given() -> None:
    """A model whose heads only harm: with them replaced it is better."""
    model = planted_model()
    for layer, head in (*NEEDED, *REDUNDANT):
        model.W_O[layer, head] = 0
    params = CircuitTestParams(heads="0.3", n_test=6, circuits=3, orders=2)
    result = compute(CIRCUIT_TEST, Spec(params, model.info, TASK), model)
    assert result.faithfulness is None
    assert headline(result)["cmd_random"] is None
    for name in figures.names("circuit-test"):
        assert figures.build(result, name)["layout"]["meta"]["reading"]
        assert figures.table(result, name)["rows"]


def test_a_p_beyond_the_axis_is_drawn_at_its_end() -> None:
    result = sample()
    assert isinstance(result, CircuitTestResult)
    tests = [dict(test) for test in result.tests]
    tests[0]["p"] = 4.7e-10
    figure = figures.build(replace(result, tests=tests), "tests")
    trace, (low, _) = figure["data"][0], figure["layout"]["xaxis"]["range"]
    assert (decode(trace["x"]) >= 10**low).all()
    assert trace["marker"]["symbol"][0] == "triangle-left"
    assert trace["customdata"][0] == "4.7e-10"
    assert "below 0.001" in figure["layout"]["meta"]["reading"]


def test_the_headline_counts_tests_by_outcome() -> None:
    told = headline(sample())  # type: ignore[arg-type]
    assert (told["heads"], told["of_heads"], told["ranking"]) == (3, 8, "Causal head gating")
    assert told["tests"] == 5
    assert 0 < told["tests_shown"] + told["tests_refuted"] <= 5
    assert told["cpr"] == pytest.approx(0.71)


def test_the_circuit_is_offered_as_gates() -> None:
    result = under_test(as_text(PAIR))
    (preset,) = offered(result, AskedGates())
    assert [tuple(place) for place in np.argwhere(preset.gates > 0).tolist()] == list(PAIR)
    assert preset.reading == "2 of 24 heads open, all others shut: faithfulness 1.00."


def test_many_members_are_drawn_in_part_and_told_in_full() -> None:
    result = sample()
    assert isinstance(result, CircuitTestResult)
    many = replace(
        result, loss=np.linspace(1, 0, 50, dtype=np.float32), loss_p=np.full(50, 0.2, np.float32),
        heads=np.stack([np.zeros(50), np.arange(50)], axis=1).astype(np.uint16),
    )  # fmt: skip
    figure = figures.build(many, "minimality")
    assert len(figure["data"][0]["x"]) == 40
    assert "40 of 50 are drawn" in figure["layout"]["meta"]["reading"]
    assert len(figures.table(many, "minimality")["rows"]) == 55
