"""Relatives as an analysis: planted heads come out, means and errors are those of losses taken one by one."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
import torch

from analyses.circuit_runs import two_layer
from analyses.specs import SMALL, asked, cut_small, span
from headscope.analyses import figures
from headscope.analyses.base import Kept, Spec
from headscope.analyses.in_place import compute
from headscope.analyses.relatives import RELATIVES
from headscope.analyses.relatives.cuts import ablation_blocks, ablation_flop, gradient_blocks
from headscope.analyses.relatives.result import MEASURES, NAMES, QUANTITIES, RelativesResult, headline
from headscope.analyses.relatives.schema import RelativesParams
from headscope.core.model.head_model import HeadModel
from headscope.errors import Invalid
from headscope.tasks.catalogue import TaskCatalogue
from headscope.validation.model import as_model
from headscope.validation.planted import build
from micro.planted import HARMFUL, NEEDED, PLAN, REDUNDANT, USELESS, PlantedTask

TASK = PlantedTask()
PARAMS = RelativesParams(n_examples=10, points=16)


@pytest.fixture(scope="module")
def model() -> HeadModel:
    return as_model(build(PLAN), PLAN, "planted")


@pytest.fixture(scope="module")
def result(model: HeadModel) -> RelativesResult:
    return run(model, PARAMS)


def run(model: HeadModel, params: RelativesParams) -> RelativesResult:
    """The result after a trip through JSON, as it is stored."""
    found = compute(RELATIVES, Spec(params, model.info, TASK), model)
    return RelativesResult.from_json(json.loads(json.dumps(found.to_json())))


def losses(model: HeadModel, gates: torch.Tensor, n: int) -> np.ndarray:
    """Each held-out example's mean NLL over its targets, one at a time."""
    found = []
    for example in TASK.examples(None, "test", limit=n):
        with torch.no_grad(), model.gated(gates.to(model.dtype)):
            log = model.logits(torch.tensor([example.tokens]))[0].double().log_softmax(-1)
        found.append(-np.mean([float(log[at - 1, example.tokens[at]]) for at in example.targets]))
    return np.array(found)


def test_leave_one_out_is_a_mean_over_examples_with_its_error(
    model: HeadModel, result: RelativesResult
) -> None:
    base = losses(model, torch.ones(2, 4), 10)
    assert result.n_examples == 10
    assert result.loss == pytest.approx(base.mean(), rel=1e-5)
    assert result.loss_closed == pytest.approx(losses(model, torch.zeros(2, 4), 10).mean(), rel=1e-5)
    for place in (*NEEDED, *HARMFUL, USELESS[0]):
        gates = torch.ones(2, 4)
        gates[place] = 0
        rises = losses(model, gates, 10) - base
        assert result.left_out[place] == pytest.approx(rises.mean(), abs=1e-4)
        error = rises.std(ddof=1) / np.sqrt(10)
        assert result.errors["left_out"][place] == pytest.approx(error, abs=1e-4)


def test_attribution_patching_is_the_gradient_and_importance_its_size(
    model: HeadModel, result: RelativesResult
) -> None:
    step = 1e-2
    for place in (*NEEDED, *HARMFUL):
        sides = []
        for side in (-step, step):
            gates = torch.ones(2, 4)
            gates[place] += side
            sides.append(losses(model, gates, 10))
        slope = (sides[0] - sides[1]) / (2 * step)
        assert result.slope[place] == pytest.approx(slope.mean(), rel=2e-2, abs=1e-3)
        assert result.importance[place] == pytest.approx(np.abs(slope).mean(), rel=2e-2, abs=1e-3)


def test_integrated_gradients_sum_to_what_opening_all_heads_gains(result: RelativesResult) -> None:
    assert result.path_sum == pytest.approx(float(result.path.sum()), rel=1e-5)
    assert result.path_sum == pytest.approx(result.gain, rel=0.02)
    assert result.path_converged
    assert not any("Integrated gradients" in note for note in result.notes)


def test_an_integral_that_misses_the_gain_is_told_and_not_drawn(model: HeadModel) -> None:
    coarse = run(model, RelativesParams(n_examples=4, points=2))
    assert abs(coarse.path_sum - coarse.gain) > 0.02 * coarse.gain
    (note,) = (note for note in coarse.notes if note.startswith("Integrated gradients did not converge"))
    assert f"{coarse.path_sum:.3g} nats of the {coarse.gain:.3g}" in note
    figure = figures.build(coarse, "path")
    assert figure["layout"]["meta"]["reading"] == note
    assert not np.isfinite(coarse.known(MEASURES[1])).any()
    table = figures.table(coarse, "path")
    assert table["columns"][3]["title"] == "integrated gradients (not converged)"
    assert all(row[3:] == [None, None] for row in table["rows"])
    estimates = figures.build(coarse, "estimates")
    assert [trace["name"] for trace in estimates["data"]] == ["attribution patching"]
    assert estimates["layout"]["meta"]["reading"].endswith(note)
    assert "most_by_path" not in headline(coarse)


def test_refined_the_same_points_account_for_the_gain(model: HeadModel) -> None:
    refined = run(model, RelativesParams(n_examples=4, points=2, refine=True))
    assert refined.path_sum == pytest.approx(refined.gain, rel=0.02)
    assert "most_by_path" in headline(refined)


def test_a_run_of_yesterday_keeps_its_id() -> None:
    old = {"n_examples": 64, "points": 8}
    assert RelativesParams.identifying(old | {"refine": False}) == old
    assert RelativesParams.identifying(old | {"refine": True}) == old | {"refine": True}


def test_planted_heads_come_out(result: RelativesResult) -> None:
    assert min(result.left_out[place] for place in NEEDED) > 1
    assert max(result.left_out[place] for place in HARMFUL) < -1
    assert max(abs(result.left_out[place]) for place in (*REDUNDANT, *USELESS)) < 0.05
    numbers = headline(result)
    assert numbers["most_by_left_out"] == "{}.{}".format(*max(NEEDED, key=lambda at: result.left_out[at]))
    assert numbers["largest_rise_left_out"] == pytest.approx(result.left_out.max())
    assert numbers["loss"] == result.loss


def test_without_a_norm_a_last_head_gives_the_answers_what_closing_it_takes(
    model: HeadModel, result: RelativesResult
) -> None:
    """Nothing comes after the last layer: a head's share is what its targets lose over the mean token."""
    layer, heads = model.info.n_layers - 1, model.info.n_heads

    def over_mean(gates: torch.Tensor) -> float:
        found = []
        for example in TASK.examples(None, "test", limit=PARAMS.n_examples):
            with torch.no_grad(), model.gated(gates.to(model.dtype)):
                logits = model.logits(torch.tensor([example.tokens]))[0].double()
            rows = [(logits[at - 1, example.tokens[at]] - logits[at - 1].mean()) for at in example.targets]
            found.append(float(torch.stack(rows).mean()))
        return float(np.mean(found))

    every = torch.ones(model.info.n_layers, heads)
    whole = over_mean(every)
    for head in range(heads):
        closed = every.clone()
        closed[layer, head] = 0
        assert result.direct[layer, head] == pytest.approx(whole - over_mean(closed), abs=1e-4)


def test_where_parts_do_not_sum_to_logits_direct_attribution_is_missing_and_said() -> None:
    """Without a norm or anything else before the unembedding, as where norms come after what is written."""
    model = as_model(build(PLAN), PLAN, "planted")
    setattr(model, "parts", replace(model.parts, final_norm=None))  # noqa: B010  read-only to mypy
    found = run(model, RelativesParams(n_examples=2, points=1))
    assert np.isnan(found.direct).all()
    assert "most_by_direct" not in headline(found)
    assert any(note.startswith("No direct logit attribution") for note in found.notes)
    assert figures.build(found, "direct")["layout"]["meta"]["reading"].startswith("Not measured")


def test_the_shipped_model_has_every_measure_and_its_headline() -> None:
    model, task = two_layer(), TaskCatalogue([]).get("induction")
    params = RelativesParams(n_examples=2, refine=True)
    found = compute(RELATIVES, Spec(params, model.info, task), model)
    assert all(np.isfinite(found.effects(measure)).all() for measure in MEASURES)
    numbers = headline(found)
    assert list(numbers) == list(QUANTITIES)
    assert found.path_converged
    assert numbers["most_by_left_out"] == numbers["most_by_path"] == "0.3"
    assert figures.build(found, "direct")["layout"]["meta"]["title"] == "Direct logit attribution"


def test_pieces_cut_smaller_give_the_same_result(
    model: HeadModel, result: RelativesResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = Spec(PARAMS, model.info, TASK)
    assert [piece.key for piece in RELATIVES.plan(spec)] == ["slopes/0-9", "left-out/0-1/0-9"]
    monkeypatch.setattr("headscope.analyses.cutting.PIECE_FLOP", 3 * max(ablation_flop(model.info)))
    keys = [piece.key for piece in RELATIVES.plan(spec)]
    assert keys[:2] == ["slopes/0-0", "slopes/1-1"]
    assert keys[10:12] == ["left-out/0-0/0-2", "left-out/1-1/0-2"]
    assert keys[-1] == "left-out/0-1/9-9"
    cut = run(model, PARAMS)
    for name, array in result.arrays.items():
        np.testing.assert_allclose(cut.arrays[name], array, rtol=1e-4, atol=1e-5, err_msg=name)


def test_every_example_and_layer_is_covered_once_by_pieces_of_bounded_work(model: HeadModel) -> None:
    info = replace(model.info, n_layers=30, n_heads=9, d_model=576, n_params_non_embedding=10**8)
    spec = Spec(RelativesParams(n_examples=300), info, TASK)
    assert [index for block in gradient_blocks(spec) for index in block] == list(range(300))
    covered = [pair for layers, block in ablation_blocks(spec) for pair in product(layers, block)]
    assert sorted(covered) == list(product(range(30), range(300)))
    pieces = RELATIVES.plan(spec)
    assert len({piece.key for piece in pieces}) == len(pieces) > 50
    assert max(piece.weight for piece in pieces) <= 4e12


def test_a_task_with_fewer_rows_than_asked_for_has_what_there_is(
    model: HeadModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks behind the last example answer nothing, and join to nothing."""
    monkeypatch.setattr("headscope.analyses.relatives.cuts._MOST_EXAMPLES", 20)
    found = run(model, RelativesParams(n_examples=50, points=1))
    assert found.n_examples == TASK.rows[1] == 24
    assert np.isfinite(found.left_out).all()


def test_few_examples_are_said(result: RelativesResult) -> None:
    assert "10 held-out examples: small effects are known roughly." in result.notes


def test_without_a_task_it_is_refused(model: HeadModel) -> None:
    with pytest.raises(Invalid) as refused:
        compute(RELATIVES, Spec(PARAMS, model.info), model)
    assert refused.value.code == "task-missing"


def test_an_estimate_grows_with_examples_and_points(model: HeadModel) -> None:
    info = replace(model.info, n_layers=30, n_heads=9, d_model=576, n_params_non_embedding=10**8)

    def seconds(**params: Any) -> float:
        return RELATIVES.estimate(Spec(RelativesParams(**params), info, TASK)).seconds

    assert seconds() < seconds(points=64) < seconds(points=64, n_examples=256)
    measured = RELATIVES.estimate(Spec(RelativesParams(), model.info, TASK), tokenizer=model.tokenizer)
    assert measured.basis.startswith("8 heads left out, 9 gradients of 24 examples of 13 tokens")


def test_its_one_seed_is_the_splits() -> None:
    assert RELATIVES.seeds(RelativesParams(split_seed=7)) == (7,)


@pytest.mark.parametrize("name", figures.names("relatives"))
def test_every_figure_can_be_drawn_and_read(result: RelativesResult, name: str) -> None:
    for theme in ("light", "dark"):
        figure = figures.build(result, name, theme=theme)
        json.dumps(figure, allow_nan=False)
        go.Figure(figure)
        assert figure["layout"]["meta"]["reading"].endswith(".")
    assert len(figures.table(result, name)["rows"]) == 8


def test_figures_and_tables_speak_the_fields_words(result: RelativesResult) -> None:
    titles = [figures.build(result, name)["layout"]["meta"]["title"] for name in NAMES]
    assert titles == [
        "Leave-one-out",
        "Integrated gradients",
        "Attribution patching",
        "Head importance",
        "Direct logit attribution",
    ]
    drawn = [trace["name"] for trace in figures.build(result, "estimates")["data"]]
    assert drawn == ["integrated gradients", "attribution patching"]
    columns = figures.table(result, "estimates")["columns"][3:]
    assert [column["title"] for column in columns[::2]] == [
        "leave-one-out",
        "integrated gradients",
        "attribution patching",
    ]
    assert [column["name"] for column in columns[::2]] == ["left_out", "path", "slope"]


def test_bars_and_table_begin_with_the_head_that_costs_most(result: RelativesResult) -> None:
    best = max(NEEDED, key=lambda at: result.left_out[at])
    bars = figures.build(result, "heads")["data"][0]
    assert bars["x"][0] == "{}.{}".format(*best)
    assert bars["x"][-1] == "{}.{}".format(*HARMFUL[0])
    assert bars["marker"]["color"][0] != bars["marker"]["color"][-1]
    table = figures.table(result, "heads")
    assert tuple(table["rows"][0][:2]) == best
    names = [column["name"] for column in table["columns"]]
    assert names[3:] == [name for measure in NAMES for name in (measure, f"{measure}_se")]


# -- joined from pieces drawn at random -------------------------------------------------------------


def drawn(rows: int, **changes: Any) -> tuple[dict[str, np.ndarray], Spec[RelativesParams], dict[str, Kept]]:
    """Numbers of so many examples, and the pieces that would have measured them; 24 were asked for."""
    source, spec = np.random.default_rng(3), asked("relatives", SMALL, n_examples=24)
    shape = (rows, SMALL.n_layers, SMALL.n_heads)
    truth = {name: source.normal(size=shape) for name in ("slope", "path", "direct", "rise")}
    truth |= {"loss": source.uniform(0, 1, rows), "loss_closed": source.uniform(4, 5, rows), **changes}
    done: dict[str, Kept] = {}
    for piece in RELATIVES.plan(spec):
        kind, *words = piece.key.split("/")
        some = span(words[-1])
        if kind == "slopes":
            measured = {name: truth[name][some] for name in truth if name != "rise"}
            converged = np.ones(len(measured["loss"]), bool)
            done[piece.key] = {**measured, "converged": converged, "n_left_out": np.array([2])}
        else:
            done[piece.key] = {"rise": truth["rise"][some, span(words[0])]}
    return truth, spec, done


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("rows", [24, 17])
def test_measures_are_means_over_the_examples_there_are(
    rows: int, cut: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cut:
        cut_small(monkeypatch)
    truth, spec, done = drawn(rows)
    assert (len(done) > 8) == cut
    found = RELATIVES.assemble(spec, done)
    wanted = {
        "left_out": truth["rise"], "path": truth["path"], "slope": truth["slope"],
        "importance": np.abs(truth["slope"]), "direct": truth["direct"],
    }  # fmt: skip
    for measure in MEASURES:
        values = wanted[measure.name]
        np.testing.assert_allclose(found.effects(measure), values.mean(axis=0), rtol=1e-5)
        error = np.sqrt(values.var(axis=0) * rows / (rows - 1) / rows)
        np.testing.assert_allclose(found.errors[measure.name], error, rtol=1e-5)
    assert found.n_examples == rows
    assert found.loss == pytest.approx(truth["loss"].mean())
    assert found.path_sum == pytest.approx(truth["path"].sum() / rows)


def test_each_caveat_of_the_relatives_is_told_when_it_is_due() -> None:
    _, spec, done = drawn(24)
    notes = RELATIVES.assemble(spec, done).notes
    assert notes[0].startswith("24 held-out examples")
    assert notes[1].startswith("Integrated gradients did not converge: they sum to")
    assert notes[2] == "2 rows are longer than the model's context and were left out."
    shape = (24, SMALL.n_layers, SMALL.n_heads)
    gained = np.full(shape, 4.0 / (SMALL.n_layers * SMALL.n_heads))
    sure = {"path": gained, "loss": np.zeros(24), "loss_closed": np.full(24, 4.0)}
    _, spec, done = drawn(24, direct=np.full(shape, np.nan), **sure)
    few, none, left_out = RELATIVES.assemble(spec, done).notes
    assert none.startswith("No direct logit attribution")
    assert few.startswith("24 held-out")
    assert left_out.startswith("2 rows")


def test_the_headline_leaves_out_what_was_not_measured() -> None:
    shape = (24, SMALL.n_layers, SMALL.n_heads)
    truth, spec, done = drawn(24, direct=np.full(shape, np.nan))
    numbers = headline(RELATIVES.assemble(spec, done))
    assert "most_by_direct" not in numbers
    mean = truth["rise"].mean(axis=0)
    layer, head = divmod(int(mean.argmax()), SMALL.n_heads)
    assert numbers["most_by_left_out"] == f"{layer}.{head}"
    assert numbers["largest_rise_left_out"] == pytest.approx(mean.max(), rel=1e-6)


def test_a_map_is_its_tables_numbers_and_the_readings_are_the_measures() -> None:
    truth, *_ = drawn(24)
    gained = truth["loss"] + truth["path"].sum(axis=(1, 2))
    _, spec, done = drawn(24, loss_closed=gained)
    found = RELATIVES.assemble(spec, done)
    for measure in MEASURES:
        table = figures.table(found, measure.name)
        assert [column["unit"] for column in table["columns"][3:]] == [measure.unit] * 2
        values = np.array([row[3] for row in table["rows"]]).reshape(SMALL.n_layers, SMALL.n_heads)
        np.testing.assert_allclose(values, found.effects(measure), rtol=1e-6)
        assert figures.build(found, measure.name)["layout"]["meta"]["reading"].startswith(measure.reading)
