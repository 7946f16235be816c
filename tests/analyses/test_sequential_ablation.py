"""Sequential ablation: planted roles move the curves as they must, a plain computation agrees, bad input."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from headscope.analyses import figures
from headscope.analyses.base import Context, Input, Kept, Progress, Result, Spec
from headscope.analyses.export import export
from headscope.analyses.sequential_ablation import SEQUENTIAL_ABLATION
from headscope.analyses.sequential_ablation.result import SequentialAblationResult, headline
from headscope.analyses.sequential_ablation.schema import PRESETS, SequentialAblationParams
from headscope.analyses.sequential_ablation.summary import area
from headscope.core.gating.removal import random_order
from headscope.core.gating.roles import SCORE_NAMES
from headscope.errors import Cancelled, Invalid
from micro.model import MicroModel
from micro.planted import HARMFUL, NEEDED, REDUNDANT, USELESS, PlantedTask, planted_model
from services.results import changed, made

TASK = PlantedTask()
PARAMS = SequentialAblationParams(gating="earlier", n_test=10, orders=5)
FEW = PARAMS.model_copy(update={"points": 3, "orders": 2, "n_test": 4})
NEEDED_FIRST, HARMFUL_FIRST, USELESS_FIRST = range(3)


def gating(seeds: int = 3, failed: tuple[int, ...] = ()) -> Result:
    """A gating run that found the planted roles; of the redundant pair each seed keeps another."""
    g_plus = np.full((seeds, 2, 4), 0.97, np.float32)
    g_minus = np.full((seeds, 2, 4), 0.02, np.float32)
    for seed in range(seeds):
        for places, value in ((NEEDED, 0.95 + 0.01 * seed), ((REDUNDANT[seed % 2],), 0.7)):
            g_minus[(seed, *np.array(places).T)] = value
        g_plus[(seed, *np.array(HARMFUL).T)] = 0.04
    for seed in failed:
        g_plus[seed] = g_minus[seed] = np.nan
    task = {"name": TASK.name, "content_hash": TASK.content_hash}
    arrays = {"g_minus": g_minus, "g_plus": g_plus, "g_zero": g_minus}
    params = {"split_seed": 0, "shots": None}
    return made("chg", 1, params, planted_model().info, task, tuple(range(5, 5 + seeds)), arrays)


def spec_of(
    params: SequentialAblationParams = PARAMS, inputs: Mapping[str, Input] | None = None
) -> Spec[SequentialAblationParams]:
    return Spec(params, planted_model().info, TASK, {"gating": gating()} if inputs is None else inputs)


def run(
    params: SequentialAblationParams = PARAMS, earlier: Result | None = None, **more: Any
) -> tuple[SequentialAblationResult, dict[str, Kept]]:
    spec, done = spec_of(params, {"gating": earlier or gating()}), dict[str, Kept]()
    for piece in SEQUENTIAL_ABLATION.plan(spec):
        needed = {key: done[key] for key in piece.needs}
        done[piece.key] = piece.compute(Context(planted_model(), needed, **more))
    return SEQUENTIAL_ABLATION.assemble(spec, done), done


@pytest.fixture(scope="module")
def whole() -> SequentialAblationResult:
    return run()[0]


def plain(model: MicroModel, gates: np.ndarray) -> float:
    """Mean log-probability of the targets on held-out rows, head by head in float64."""
    w = {name: getattr(model, name).numpy() for name in ("W_E", "W_pos", "W_Q", "W_K", "W_V", "W_O", "W_U")}
    found = []
    for example in TASK.examples(None, "test", limit=10):
        ids = list(example.tokens)
        stream = w["W_E"][ids] + w["W_pos"][: len(ids)]
        for layer in range(len(gates)):
            written = np.zeros_like(stream)
            for head, gate in enumerate(gates[layer]):
                q, k, v = (stream @ w[name][layer, head] for name in ("W_Q", "W_K", "W_V"))
                score = np.where(np.tri(len(ids), dtype=bool), q @ k.T / math.sqrt(q.shape[1]), -np.inf)
                weights = np.exp(score - score.max(axis=1, keepdims=True))
                written += gate * (weights / weights.sum(axis=1, keepdims=True) @ v @ w["W_O"][layer, head])
            stream = stream + written
        logits = stream @ w["W_U"]
        logp = logits - np.log(np.exp(logits - logits.max()).sum(axis=1, keepdims=True)) - logits.max()
        found.append(np.mean([logp[at - 1, ids[at]] for at in example.targets]))
    return float(np.mean(found))


def test_every_point_is_what_a_plain_computation_gives(whole: SequentialAblationResult) -> None:
    """One seed's three orders, and two random ones of others."""
    model, earlier = planted_model(), gating()
    minus, plus = (earlier.arrays[name].astype(float) for name in ("g_minus", "g_plus"))
    scores = {"facilitation": minus, "interference": 1 - plus, "irrelevance": plus * (1 - minus)}
    cases = []
    for index, name in enumerate(SCORE_NAMES):
        flat = scores[name][1].reshape(-1).tolist()
        order = sorted(range(8), key=lambda head: (-flat[head], head))
        cases.append((1, order, [getattr(whole, part)[index, 1] for part in ("delta", "closed", "opened")]))
    for number in (1, 3):
        parts = [getattr(whole, f"random_{part}")[number] for part in ("delta", "closed", "opened")]
        cases.append((number % 3, random_order(number, 8).tolist(), parts))
    for seed, order, (delta, closed, opened) in cases:
        for row, k in enumerate(whole.k.tolist()):
            forms = np.stack([plus[seed], plus[seed]]).reshape(2, -1)
            forms[:, order[:k]] = [[0.0], [1.0]]
            low, high = (plain(model, gates.reshape(2, 4)) for gates in forms)
            assert closed[row] == pytest.approx(low, rel=1e-5, abs=1e-6)
            assert opened[row] == pytest.approx(high, rel=1e-5, abs=1e-6)
            assert delta[row] == pytest.approx(low - high, rel=1e-5, abs=1e-6)


def test_the_planted_roles_move_the_curves_as_they_must(whole: SequentialAblationResult) -> None:
    k, delta = whole.k.tolist(), whole.delta.mean(axis=1)
    assert k == list(range(9))
    assert delta[NEEDED_FIRST, 1] < -1  # one of the induction pair is enough to lose it
    assert delta[HARMFUL_FIRST, 1] > 0.5
    assert np.abs(delta[USELESS_FIRST, : len(USELESS) + 1]).max() < 1e-3
    assert delta[USELESS_FIRST, -1] < -1
    assert whole.area["facilitation"] < whole.area["interference"]
    needed, harmful, useless = (whole.while_role[name] for name in SCORE_NAMES)
    assert [role["heads"] for role in (needed, harmful, useless)] == [3, 1, 4]
    assert needed["below"] >= 4
    assert harmful["above"] == 5
    assert needed["area"] < needed["random_area"] < 0 < harmful["area"]
    assert abs(useless["area"]) < 1e-3 < abs(useless["random_area"])
    assert useless["nearer"] == 5
    told = headline(whole)
    assert told["harmful_closed_first"] == "above 5 of 5 random orders"
    assert told["irrelevant_closed_first"] == "nearer 0 than 5 of 5 random orders"
    taken = whole.order[NEEDED_FIRST][:, :2]
    assert {divmod(int(flat), 4) for flat in taken.reshape(-1)} == set(NEEDED)


def test_where_no_head_has_a_role_no_rank_is_told() -> None:
    earlier = gating(1)
    open_all = {**earlier.arrays, "g_plus": np.ones_like(earlier.arrays["g_plus"])}
    result, _ = run(FEW, changed(earlier, arrays=open_all))
    assert headline(result)["harmful_closed_first"] == "no head is harmful"
    assert "no head is harmful" in figures.build(result, "curves")["layout"]["meta"]["reading"]


def test_with_nothing_and_with_all_heads_taken_every_order_agrees(whole: SequentialAblationResult) -> None:
    for name in ("delta", "random_delta"):
        assert not getattr(whole, name)[..., 0].any()
        assert np.ptp(getattr(whole, name)[..., -1]) == 0
    model = planted_model()
    ends = plain(model, np.zeros((2, 4))) - plain(model, np.ones((2, 4)))
    assert whole.delta[0, 0, -1] == pytest.approx(ends, rel=1e-5)
    assert headline(whole)["delta_at_K"] == pytest.approx(ends, rel=1e-5)


def test_random_orders_take_turns_with_the_seeds(whole: SequentialAblationResult) -> None:
    assert whole.random_seed.tolist() == [0, 1, 2, 0, 1]
    for number, order in enumerate(whole.random_order):
        assert order.tolist() == random_order(number, 8).tolist()
    fewer, _ = run(PARAMS.model_copy(update={"orders": 2}))
    assert fewer.random_seed.tolist() == [0, 1]
    np.testing.assert_array_equal(fewer.random_delta, whole.random_delta[:2])
    np.testing.assert_array_equal(fewer.delta, whole.delta)


def test_pieces_cut_smaller_give_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    once, few = run(FEW)
    monkeypatch.setattr("headscope.analyses.cutting.PIECE_FLOP", 1.0)
    cut, many = run(FEW)
    assert (len(few), len(many)) == (2 + 3, 2 + (3 * 3 + 2) * 4)
    for name, array in once.arrays.items():
        np.testing.assert_allclose(cut.arrays[name], array, rtol=1e-5, atol=1e-6)
    assert cut.n_test == once.n_test == 4


def test_more_parts_than_held_out_rows_is_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """The request allows more rows than the task has: some parts are empty."""
    monkeypatch.setattr("headscope.analyses.cutting.PIECE_FLOP", 1.0)
    many = FEW.model_copy(update={"n_test": 30, "orders": 1})
    result, pieces = run(many, gating(seeds=1))
    assert result.n_test == 24
    assert sum(piece["n_examples"][0] == 0 for key, piece in pieces.items() if key.startswith("seed")) > 0


def test_failed_seeds_are_left_out_and_said() -> None:
    some, _ = run(FEW, gating(3, failed=(0, 2)))
    assert some.seeds == (6,)
    notes = " ".join(some.notes)
    assert "Seeds 5, 7 of the gating run have no fit and are left out." in notes
    assert "no band" in notes
    other, _ = run(FEW.model_copy(update={"seeds": 2}), gating(3, failed=(1,)))
    assert other.seeds == (5, 7)
    assert "Seed 6 of the gating run has no fit" in " ".join(other.notes)


def test_one_seed_has_no_band_and_the_figure_says_why(whole: SequentialAblationResult) -> None:
    one, _ = run(FEW, gating(1))
    drawn, banded = (figures.build(result, "curves") for result in (one, whole))
    bands = [sum(trace.get("fill") == "toself" for trace in figure["data"]) for figure in (drawn, banded)]
    assert bands == [1, 4]  # the random orders', and three by score
    assert "One seed has no band" in drawn["layout"]["meta"]["reading"]
    assert "(1/1)" not in "".join(row[-1] for row in figures.table(one, "curves")["rows"])
    for name in figures.names("sequential-ablation"):
        assert figures.table(one, name)["rows"]


def test_fewer_heads_may_be_taken_and_no_more_than_there_are(whole: SequentialAblationResult) -> None:
    part, _ = run(PARAMS.model_copy(update={"largest": 3}))
    assert part.k.tolist() == [0, 1, 2, 3]
    assert part.order.shape == (3, 3, 3)
    np.testing.assert_allclose(part.delta, whole.delta[..., :4], rtol=1e-5, atol=1e-6)
    for ask in (SEQUENTIAL_ABLATION.plan, SEQUENTIAL_ABLATION.estimate):
        with pytest.raises(Invalid, match="9 heads to be taken are more than the 8") as refused:
            ask(spec_of(PARAMS.model_copy(update={"largest": 9})))
        assert refused.value.code == "too-many-heads"
        assert "at most 8" in refused.value.remedy


def test_runs_of_other_kinds_are_refused() -> None:
    wrong: dict[str, dict[str, Input]] = {
        "run-missing": {},
        "not-gating": {"gating": replace(gating(), analysis="induction")},
        "other-task": {"gating": replace(gating(), task={"name": "else", "content_hash": "0"})},
        "nothing-fitted": {"gating": gating(2, failed=(0, 1))},
    }
    for code, inputs in wrong.items():
        with pytest.raises(Invalid) as refused:
            SEQUENTIAL_ABLATION.estimate(spec_of(inputs=inputs))
        assert refused.value.code == code


def test_progress_and_cancel_reach_every_pass() -> None:
    told: list[Progress] = []
    run(FEW, report=told.append)
    assert {progress.seeds for progress in told} == {"seed 5", "seed 6", "seed 7"}
    assert max(progress.fraction for progress in told) == 1
    calls = 0

    def stop() -> None:
        nonlocal calls
        calls += 1
        if calls == 5:
            raise Cancelled("Stopped.", "")

    with pytest.raises(Cancelled):
        run(FEW, checkpoint=stop)


def test_the_area_is_the_mean_over_the_heads_taken() -> None:
    k = np.array([0, 1, 3, 7])
    assert area(k, 2.0 * k) == pytest.approx(7)
    assert area(k, 2.0 * k, 2) == pytest.approx(2)
    assert area(k, 2.0 * k, 0) == 0
    assert area(k, np.array([[0.0, 0, 0, 1], [1, 1, 1, 1]])).tolist() == pytest.approx([2 / 7, 1])


def test_the_estimate_counts_what_the_plan_does() -> None:
    info = replace(planted_model().info, n_layers=30, n_heads=9, n_params_non_embedding=106 * 10**6)
    draw = np.random.default_rng(0)
    arrays = {name: draw.uniform(size=(5, 30, 9)).astype(np.float32) for name in ("g_plus", "g_minus")}
    given = {"gating": changed(gating(5), arrays=arrays)}
    quick, paper = (
        Spec(SequentialAblationParams(gating="x", **PRESETS[name]), info, TASK, given)
        for name in ("quick", "paper")
    )
    seconds = [SEQUENTIAL_ABLATION.estimate(spec).seconds for spec in (quick, paper)]
    assert 60 < seconds[0] < 300
    assert seconds[1] > 50 * seconds[0]
    assert "14 orders × 6 numbers of heads × 2" in SEQUENTIAL_ABLATION.estimate(quick).basis
    pieces = SEQUENTIAL_ABLATION.plan(paper)
    assert len({piece.key for piece in pieces}) == len(pieces)
    heavy = [piece.weight for piece in pieces if piece.key.startswith("seed/")]
    assert max(heavy) < 6e12  # a minute at 100 GFLOP/s
    assert sum(heavy) / 1e11 == pytest.approx(seconds[1], rel=0.2)


def test_tables_name_the_heads_in_the_order_removed(whole: SequentialAblationResult) -> None:
    rows = figures.table(whole, "seeds")["rows"]
    assert len(rows) == (3 * 3 + 5) * 9
    mine = [row for row in rows if row[0] == 6 and row[1] == "facilitation"]
    named = " ".join(row[6] for row in mine).split()
    assert named == [f"{flat // 4}.{flat % 4}" for flat in whole.order[0, 1].tolist()]
    assert [row[2] for row in mine] == list(range(9))
    joined = figures.table(whole, "curves")["rows"][1]
    assert "0.0 (3/3)" in joined
    assert len(export(whole, "csv").content.decode().splitlines()) == 10
    assert b"Sequential ablation" in export(whole, "html").content


def test_the_mark_stands_where_the_role_runs_out(whole: SequentialAblationResult) -> None:
    from headscope.core.arrays import decode

    for threshold, needed in ((0.5, 3.0), (0.9, 2.0)):
        figure = figures.build(whole, "curves", threshold)
        mark = next(trace for trace in figure["data"] if trace.get("name") == "facilitation runs out")
        assert decode(mark["x"]).tolist() == [needed]
        assert f"score of {threshold:g} or more" in figure["layout"]["meta"]["reading"]
