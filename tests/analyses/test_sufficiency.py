"""The fewest heads that keep a task: planted truth, the ends, the bisection, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from figures.samples import sufficiency as sample
from headscope.analyses import figures
from headscope.analyses.base import Input, Spec
from headscope.analyses.chg.result import ChgResult
from headscope.analyses.export import export
from headscope.analyses.in_place import compute
from headscope.analyses.offered_gates import AskedGates
from headscope.analyses.sufficiency import SUFFICIENCY
from headscope.analyses.sufficiency.curve import bisect
from headscope.analyses.sufficiency.gates import offered
from headscope.analyses.sufficiency.plan import ask_flop, cuts
from headscope.analyses.sufficiency.result import SufficiencyResult, headline
from headscope.analyses.sufficiency.schema import SufficiencyParams
from headscope.core.arrays import decode
from headscope.core.gating.evaluation import evaluate
from headscope.core.gating.removal import counts, random_order
from headscope.errors import Invalid, Refused
from micro.model import MicroModel
from micro.planted import HARMFUL, NEEDED, REDUNDANT, PlantedTask, planted_model
from services.results import changed, made

TASK = PlantedTask()
PARAMS = SufficiencyParams(run="earlier", n_test=12, orders=2, points=4)


def gating(needed: Mapping[tuple[int, int], float] | None = None, seeds: int = 2) -> ChgResult:
    """A gating run that found the planted roles."""
    scores = needed or {**dict.fromkeys(NEEDED, 0.99), REDUNDANT[0]: 0.6, REDUNDANT[1]: 0.5, HARMFUL[0]: 0.0}
    g_minus = np.full((seeds, 2, 4), 0.02, np.float32)
    for (layer, head), value in scores.items():
        g_minus[:, layer, head] = value
    arrays = {"g_minus": g_minus, "g_plus": np.ones_like(g_minus), "g_zero": g_minus}
    run = made(
        "chg",
        1,
        {"split_seed": 0, "shots": None},
        planted_model().info,
        {"name": TASK.name, "content_hash": TASK.content_hash},
        tuple(range(seeds)),
        arrays,
    )
    assert isinstance(run, ChgResult)
    return run


def spec(params: SufficiencyParams = PARAMS, **inputs: Input) -> Spec[SufficiencyParams]:
    return Spec(params, planted_model().info, TASK, inputs or {"run": gating()})


def run(params: SufficiencyParams = PARAMS, model: MicroModel | None = None) -> SufficiencyResult:
    return compute(SUFFICIENCY, spec(params), model or planted_model())


def scored(gates: np.ndarray) -> float:
    examples = TASK.examples(None, "test", limit=12)
    wide = torch.from_numpy(gates.astype(np.float64))[None]
    return evaluate(planted_model(), examples, wide).log_probability.item()


def test_the_planted_circuit_is_sufficient_and_one_head_less_is_not() -> None:
    result = run()
    assert result.fewest == 3
    open_heads = {tuple(place) for place in np.argwhere(result.subset > 0).tolist()}
    assert open_heads == {*NEEDED, REDUNDANT[0]}
    ends = (scored(np.zeros((2, 4))), scored(np.ones((2, 4))))
    kept = [(scored(gates) - ends[0]) / (ends[1] - ends[0]) for gates in (result.subset, _less(result))]
    assert kept[0] >= 0.95 > kept[1]
    assert result.kept == pytest.approx(kept[0], rel=1e-6)


def _less(result: SufficiencyResult) -> np.ndarray:
    assert result.fewest is not None
    gates = result.subset.copy()
    layer, head = result.order[result.fewest - 1]
    gates[layer, head] = 0
    return gates


def test_every_point_is_an_evaluation_of_the_same_gates() -> None:
    result = run()
    order = result.order.astype(int)
    for k, logp in zip(result.open_heads, result.curve["log_probability"], strict=True):
        gates = np.zeros((2, 4))
        gates[tuple(order[:k].T)] = 1
        assert logp == pytest.approx(scored(gates), rel=1e-5)
    assert result.curve["kept"][[0, -1]].tolist() == [0, 1]
    assert result.log_probability_open == pytest.approx(scored(np.ones((2, 4))), rel=1e-6)
    for seed in range(2):
        shuffled = random_order(seed, 8)
        for k, logp in zip(result.random_open_heads, result.random["log_probability"][seed], strict=True):
            opened = np.zeros(8)
            opened[shuffled[:k]] = 1
            assert logp == pytest.approx(scored(opened.reshape(2, 4)), rel=1e-5)


def test_the_order_is_the_mean_over_seeds_that_have_a_fit() -> None:
    earlier = gating(seeds=3)
    arrays = {name: array.copy() for name, array in earlier.arrays.items()}
    for array in arrays.values():
        array[1] = np.nan
    failed = changed(earlier, arrays=arrays)
    assert isinstance(failed, ChgResult)
    np.testing.assert_allclose(failed.facilitation, earlier.facilitation)
    result = run()
    assert result.order[:4].tolist() == [[0, 0], [1, 0], [0, 2], [1, 1]]


def test_the_most_needed_first_beat_random_orders() -> None:
    result = run(PARAMS.model_copy(update={"points": 9, "orders": 4}))
    mean = result.random["kept"].mean(axis=0)
    assert (result.curve["kept"][3:6] > mean[3:6]).all()


def test_pieces_cut_smaller_give_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, few = run(), SUFFICIENCY.plan(spec())
    monkeypatch.setattr("headscope.analyses.cutting.PIECE_FLOP", 1.0)
    cut, many = run(), SUFFICIENCY.plan(spec())
    assert len(many) > len(few)
    for name, array in whole.arrays.items():
        np.testing.assert_allclose(cut.arrays[name], array, rtol=1e-6)


def test_where_there_is_nothing_to_keep_no_number_is_named() -> None:
    """A model whose heads only harm: shut, it is better."""
    model = planted_model()
    for layer, head in (*NEEDED, *REDUNDANT):
        model.W_O[layer, head] = 0
    result = run(model=model)
    assert result.fewest is None
    assert "nothing to keep" in " ".join(result.notes)
    assert not result.subset.any()
    for name in figures.names("sufficiency"):
        assert "nothing to keep" in figures.build(result, name)["layout"]["meta"]["reading"]
        assert figures.table(result, name)["rows"]
    with pytest.raises(Refused, match="No heads suffice"):
        offered(result, AskedGates())


def test_the_subset_is_offered_as_gates() -> None:
    result = run()
    (preset,) = offered(result, AskedGates())
    assert preset.gates is result.subset
    assert not preset.of_seeds
    assert preset.reading.startswith("3 of 8 heads open")


def test_runs_of_other_kinds_are_refused() -> None:
    failed = {name: np.full((1, 2, 4), np.nan) for name in ("g_plus", "g_minus")}
    wrong: dict[str, dict[str, Input]] = {
        "run-missing": {},
        "not-gating": {"run": replace(gating(), analysis="induction")},
        "other-task": {"run": replace(gating(), task={"name": "else", "content_hash": "0"})},
        "nothing-fitted": {"run": changed(gating(), arrays=failed)},
    }
    for code, inputs in wrong.items():
        with pytest.raises(Invalid) as refused:
            SUFFICIENCY.estimate(Spec(PARAMS, planted_model().info, TASK, inputs))
        assert refused.value.code == code


@settings(deadline=None)
@given(heads=st.integers(1, 300), points=st.integers(2, 24), at=st.integers(1, 300))
def test_bisection_finds_the_step_in_few_questions(heads: int, points: int, at: int) -> None:
    at = min(at, heads)
    tried = np.array(counts(points, heads))
    asked: list[int] = []

    def ask(k: int) -> float:
        asked.append(k)
        return float(k >= at)

    assert bisect(tried, (tried >= at).astype(float), 0.95, ask) == at
    assert len(asked) <= np.ceil(np.log2(max(2, heads)))


def test_estimate_plan_and_export() -> None:
    info = replace(planted_model().info, n_layers=30, n_heads=9, n_params_non_embedding=10**8)
    large_spec = Spec(SufficiencyParams(run="x"), info, TASK, {"run": gating()})
    small = SUFFICIENCY.estimate(replace(large_spec, params=PARAMS))
    large = SUFFICIENCY.estimate(large_spec)
    assert large.seconds > small.seconds
    assert "evaluations" in large.basis
    cut = cuts(large_spec)
    points = [
        sum(piece.weight for piece in curve) / ask_flop(large_spec) for curve in (cut.chosen, *cut.random)
    ]
    assert points == pytest.approx([24, 22, 22, 22])
    result = run()
    assert len(export(result, "csv").content.decode().splitlines()) == 1 + len(result.open_heads)
    assert export(result, "csv", figure="subset").filename == "headscope-micro-sufficiency-planted-subset.csv"
    assert b"Sufficient heads" in export(result, "html").content


# -- a result made up -------------------------------------------------------------------------------


def made_up() -> SufficiencyResult:
    found = sample()
    assert isinstance(found, SufficiencyResult)
    return found


def test_the_curve_drawn_is_the_tables_and_random_orders_stand_beside() -> None:
    found = made_up()
    table = figures.table(found, "curve")
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row, strict=True)) for row in table["rows"]]
    line = figures.build(found, "curve")["data"][2]
    np.testing.assert_allclose(decode(line["y"]), [100 * row["kept"] for row in rows], rtol=1e-5)
    by_k = {row["open_heads"]: row for row in rows}
    assert by_k[2]["random_mean"] is None, "random orders weren't asked there"
    assert by_k[4]["random_mean"] == pytest.approx((0.3 + 0.5) / 2, rel=1e-5)
    assert (by_k[4]["random_low"], by_k[4]["random_high"]) == pytest.approx((0.3, 0.5), rel=1e-5)
    reading = figures.build(found, "curve")["layout"]["meta"]["reading"]
    assert "3 of 8 heads keep 96.0 % of it, where 95 % were asked for" in reading
    assert headline(found) == {
        "sufficient_heads": 3, "of_heads": 8, "kept": pytest.approx(0.96),
        "log_probability_all_open": pytest.approx(-0.1), "log_probability_all_closed": pytest.approx(-3.1),
        "kept_beyond_guessing": pytest.approx(0.9734, abs=1e-4),
        "log_probability_guessing": pytest.approx(-np.log(100)),
    }  # fmt: skip


def test_the_subset_is_the_first_heads_in_order() -> None:
    table = figures.table(made_up(), "subset")
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row, strict=True)) for row in table["rows"]]
    assert sorted(row["rank"] for row in rows) == list(range(1, 9))
    assert all(row["open"] == (row["rank"] <= 3) for row in rows)
    by_rank = sorted(rows, key=lambda row: row["rank"])
    facilitation = [row["facilitation"] for row in by_rank]
    assert facilitation == sorted(facilitation, reverse=True)


def test_the_sufficient_heads_are_offered_as_gates_or_refused() -> None:
    found = made_up()
    (preset,) = offered(found, AskedGates())
    np.testing.assert_array_equal(preset.gates, found.subset)
    assert not preset.of_seeds
    assert preset.reading.startswith("3 of 8 heads open, all others shut: they keep 96 %")
    nothing = replace(found, fewest=None, kept=None)
    with pytest.raises(Refused) as refused:
        offered(nothing, AskedGates())
    assert refused.value.code == "no-gates"
    figure = figures.build(nothing, "curve")
    assert "nothing to keep" in figure["layout"]["meta"]["reading"]
    assert figure["layout"]["shapes"] == []
    assert headline(nothing)["sufficient_heads"] is None


def test_kept_names_its_floor_and_what_guessing_gives() -> None:
    """All heads closed score below guessing evenly: most of the gain is from surely wrong to ignorant."""
    before = sample()
    known = {"log_probability_closed": -11.27, "log_probability_open": -1.0}
    curve = -11.27 + before.arrays["kept"] * 10.27
    arrays = {**before.arrays, "log_probability": curve.astype(np.float32)}
    model = replace(before.model, d_vocab=512)
    result = changed(before, arrays=arrays, values={**before.values, **known}, model=model)
    assert isinstance(result, SufficiencyResult)
    assert result.uniform == pytest.approx(-6.2383, abs=1e-4)
    at = float(arrays["log_probability"][result.open_heads == 3][0])
    assert result.kept_beyond_guessing == pytest.approx((at + 6.2383) / 5.2383, abs=1e-3)
    assert (
        "all heads closed: −11.27 nats a token, where guessing every token alike gives −6.24" in result.floor
    )
    assert "3 heads keep 92." in result.floor
    drawn = figures.build(result, "curve")
    assert result.floor in drawn["layout"]["meta"]["reading"]
    guessing = next(trace for trace in drawn["data"] if trace.get("name") == "guessing evenly")
    assert decode(guessing["y"]).tolist() == pytest.approx([48.99, 48.99], abs=0.02)
    assert result.curve["kept"][0] == 0
    columns = figures.table(result, "curve")
    place = [column["name"] for column in columns["columns"]].index("kept_beyond_guessing")
    assert columns["rows"][0][place] == pytest.approx((-11.27 + 6.2383) / 5.2383, abs=1e-3)
