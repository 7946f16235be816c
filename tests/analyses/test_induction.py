"""Induction as an analysis: a planted pair is found, scores and losses are an independent float64's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from analyses.specs import SMALL, asked, cut_small, span
from core import reference
from headscope.analyses import figures
from headscope.analyses.base import Context, Kept, Progress, Spec
from headscope.analyses.export import export
from headscope.analyses.induction import INDUCTION
from headscope.analyses.induction.result import NAMES, QUANTITIES, InductionResult, headline, strongest
from headscope.analyses.induction.schema import InductionParams, learning_pair
from headscope.analyses.references import GatesRef, Input
from headscope.core.arrays import decode
from headscope.core.gating.gate_vector import gate_vector
from headscope.core.patterns.random_repeats import repeated_tokens
from headscope.core.patterns.scores import SCORES
from headscope.errors import Cancelled, Invalid
from micro.model import MicroModel, random_model
from micro.planted import planted_model
from micro.words import word_tokenizer

PARAMS = InductionParams(seeds=3, length=6, ablate=2)


def planted() -> MicroModel:
    model = planted_model()
    model.tokenizer = word_tokenizer()
    return model


def run(
    model: MicroModel, params: InductionParams, inputs: Mapping[str, Input] | None = None, **more: Any
) -> tuple[InductionResult, dict[str, Kept]]:
    """The result after a trip through JSON, as it is stored, and what each piece answered."""
    spec, done = Spec(params, model.info, None, inputs or {}), dict[str, Kept]()
    for piece in INDUCTION.plan(spec):
        context = Context(model, {key: done[key] for key in piece.needs}, **more)
        done[piece.key] = piece.compute(context)
    found = INDUCTION.assemble(spec, done)
    return InductionResult.from_json(json.loads(json.dumps(found.to_json()))), done


def patterns(model: MicroModel, ids: np.ndarray, gates: np.ndarray, held: Any = None) -> tuple[Any, Any]:
    """Every layer's pattern [head, query, key] and every token's loss, in plain numpy."""
    w = {name: getattr(model, name).numpy() for name in ("W_E", "W_pos", "W_Q", "W_K", "W_V", "W_O", "W_U")}
    stream = w["W_E"][ids] + w["W_pos"][: len(ids)]
    found = []
    for layer in range(w["W_Q"].shape[0]):
        out = np.zeros_like(stream)
        rows = []
        for head in range(w["W_Q"].shape[1]):
            q, k, v = (stream @ w[name][layer, head] for name in ("W_Q", "W_K", "W_V"))
            score = np.where(np.tri(len(ids), dtype=bool), q @ k.T / np.sqrt(q.shape[1]), -np.inf)
            weights = np.exp(score - score.max(axis=1, keepdims=True))
            weights /= weights.sum(axis=1, keepdims=True)
            rows.append(weights)
            used = weights if held is None else held[layer][head]
            out += gates[layer, head] * (used @ v @ w["W_O"][layer, head])
        found.append(np.stack(rows))
        stream = stream + out
    logits = stream @ w["W_U"]
    highest = logits.max(axis=1, keepdims=True)
    log = logits - highest - np.log(np.exp(logits - highest).sum(axis=1, keepdims=True))
    loss = np.append(np.nan, -log[np.arange(len(ids) - 1), ids[1:]])
    return found, loss


def expected(pattern: np.ndarray, n: int, copies: int) -> dict[str, float]:
    """One head's scores, by loops."""
    start = len(pattern) - n * copies
    second = range(start + n, start + 2 * n)
    later = range(start + n, start + copies * n)
    row = {
        "induction": [pattern[i, i - n + 1] for i in second],
        "duplicate": [pattern[i, i - n] for i in second],
        "previous": [pattern[i, i - 1] for i in second],
        "current": [pattern[i, i] for i in second],
        "sink": [pattern[i, 0] for i in second],
        "entropy": [-sum(a * np.log(a) for a in pattern[i] if a > 0) for i in second],
        "prefix": [
            sum(pattern[i, i - back * n + 1] for back in range(1, copies) if i - back * n >= start)
            for i in later
        ],
    }
    return {name: float(np.mean(values)) for name, values in row.items()}


@pytest.mark.parametrize(("copies", "bos"), [(2, True), (3, False)])
def test_scores_losses_and_rises_are_those_of_an_independent_float64(copies: int, bos: bool) -> None:
    model = random_model(vocab=16)
    model.tokenizer = word_tokenizer(bos=15 if bos else None)
    params = InductionParams(seeds=2, first_seed=5, length=5, copies=copies, ablate=3)
    result, _ = run(model, params)
    open_gates = np.ones((2, 3))
    for draw, seed in enumerate((5, 6)):
        (ids,) = repeated_tokens(model.tokenizer, 5, 1, seed, copies)
        found, loss = patterns(model, ids, open_gates)
        np.testing.assert_allclose(result.loss[draw], loss, rtol=1e-5)
        for layer, head in np.ndindex(2, 3):
            for name, value in expected(found[layer][head], 5, copies).items():
                assert result.score(name)[draw, layer, head] == pytest.approx(value, abs=1e-5), name
            induced, doubled, before = reference.excess(found[layer][head], ids.tolist())
            in_second = before[int(bos) + 5 - 1 : int(bos) + 10 - 1]
            for name, excess in (("induction", induced), ("duplicate", doubled), ("previous", in_second)):
                above = result.named_by(name)[draw, layer, head]
                assert above == pytest.approx(np.mean(excess), abs=1e-5), name
        second = slice(int(bos) + 6, int(bos) + 10)
        assert result.loss_second[draw] == pytest.approx(loss[second].mean(), rel=1e-5)
        assert result.loss_first[draw] == pytest.approx(np.nanmean(loss[int(bos) : int(bos) + 5]))
        for rank, (layer, head) in enumerate(result.ablated_heads):
            closed = open_gates.copy()
            closed[layer, head] = 0
            for name, held in (("rise_free", None), ("rise_frozen", found)):
                rise = (patterns(model, ids, closed, held)[1] - loss)[second].mean()
                assert result.arrays[name][draw, rank] == pytest.approx(rise, abs=1e-5), name


def test_the_planted_pair_is_found_and_the_repeat_needs_it() -> None:
    result, _ = run(planted(), PARAMS)
    numbers = headline(result)
    assert (numbers["induction_head"], numbers["previous_token_head"]) == ("1.0", "0.0")
    assert list(numbers) == list(QUANTITIES)
    assert numbers["induction_score"] > 0.9
    assert numbers["loss_second_copy"] < numbers["loss_first_copy"] - 2
    assert result.ablated_heads[0].tolist() == [1, 0]
    assert (result.rise_free[:, 0] > 1).all()
    np.testing.assert_allclose(result.rise_free[:, 0], result.rise_frozen[:, 0], rtol=1e-5)
    assert result.induction.shape == (3, 2, 4)
    assert result.seeds == (0, 1, 2)


def test_a_result_of_before_columns_were_told_from_stripes_is_read_by_its_weights() -> None:
    result, _ = run(planted(), PARAMS)
    stored = result.to_json()
    for name in ("induction", "duplicate", "previous"):
        del stored[f"{name}_above"]
    earlier = InductionResult.from_json(stored)
    assert (earlier.above, result.above) == (False, True)
    assert earlier.named_by("induction") is earlier.induction
    assert headline(earlier)["induction_head"] == "1.0"
    for figure in INDUCTION.figures:
        figures.build(earlier, figure.name)
        figures.table(earlier, figure.name)
    columns = [column["name"] for column in figures.table(result, "induction")["columns"]]
    assert "weight" in columns
    assert "weight" not in [column["name"] for column in figures.table(earlier, "induction")["columns"]]


def test_pieces_of_before_and_after_are_joined_without_what_some_lack(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _, done = run(planted(), PARAMS)
    old = {
        key: {name: kept for name, kept in piece.items() if name != "above"} for key, piece in done.items()
    }
    assert not INDUCTION.assemble(Spec(PARAMS, planted().info, None, {}), old).above


def test_without_its_previous_token_head_the_pair_is_blind_but_its_frozen_patterns_are_not() -> None:
    """Predict, then intervene: 1.0 finds its place by what 0.0 writes, and by nothing else."""
    model = planted()
    params = PARAMS.model_copy(update={"ablate": 8})
    result, _ = run(model, params)
    place = result.ablated_heads.tolist().index([0, 0])
    assert (result.rise_free[:, place] > 1).all()
    np.testing.assert_allclose(result.rise_frozen[:, place], 0, atol=1e-5)


def test_gates_are_measured_through() -> None:
    model = planted()
    gates = np.ones((2, 4), np.float32)
    gates[0, 0] = 0
    vector = gate_vector("no previous token", model.info, gates)
    params = PARAMS.model_copy(update={"gates": vector.id})
    result, _ = run(model, params, inputs={"gates": vector})
    assert result.induction.mean(axis=0)[1, 0] < 0.3
    assert vector.id in " ".join(result.notes)
    place = result.ablated_heads.tolist()
    assert len(place) == 2
    plain, _ = run(model, PARAMS)
    np.testing.assert_array_less(plain.loss_second + 1, result.loss_second)


def test_gates_are_a_reference_that_may_be_left_out() -> None:
    assert INDUCTION.references == {"gates": GatesRef()}
    assert INDUCTION.params.model_json_schema()["properties"]["gates"].get("needed") is None


def test_pieces_cut_smaller_give_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, few = run(planted(), PARAMS)
    monkeypatch.setattr("headscope.analyses.cutting.PIECE_FLOP", 1.0)
    cut, many = run(planted(), PARAMS)
    assert list(few) == ["draws/0-2", "ablation/0-2/0-1"]
    assert len(many) == 3 + 3 * 2
    for name, array in whole.arrays.items():
        np.testing.assert_array_equal(cut.arrays[name], array)


def test_a_draw_does_not_depend_on_how_many_there_are() -> None:
    one, _ = run(planted(), PARAMS.model_copy(update={"seeds": 1, "first_seed": 2}))
    three, _ = run(planted(), PARAMS)
    for name in (*NAMES, "loss"):
        np.testing.assert_array_equal(one.arrays[name][0], three.arrays[name][2])


def test_no_heads_need_be_gated_off() -> None:
    params = PARAMS.model_copy(update={"ablate": 0})
    assert [piece.key for piece in INDUCTION.plan(Spec(params, planted().info))] == ["draws/0-2"]
    result, _ = run(planted(), params)
    assert result.rise_free.shape == (3, 0)
    assert "No head" in figures.build(result, "ablation")["layout"]["meta"]["reading"]
    assert figures.table(result, "ablation")["rows"] == []


def test_a_sequence_longer_than_the_context_is_refused_with_both_numbers() -> None:
    info = planted().info
    long = InductionParams(length=50)
    for ask in (INDUCTION.plan, INDUCTION.estimate):
        with pytest.raises(Invalid, match="101 tokens; the context of micro holds 16") as refused:
            ask(Spec(long, info))
        assert (refused.value.code, refused.value.remedy[:18]) == ("too-long", "Use at most 7 toke")
    with pytest.raises(Invalid, match="different tokens"):
        INDUCTION.estimate(
            Spec(InductionParams(length=40), replace(info, n_ctx=512)), tokenizer=word_tokenizer()
        )


def test_the_pair_of_in_context_learning_is_the_papers_where_the_context_allows() -> None:
    assert learning_pair(600) == (50, 500)
    assert learning_pair(101) == (10, 100)
    assert learning_pair(9) == (1, 8)
    result, _ = run(planted(), PARAMS)
    assert result.learning_pair == [1, 12]
    np.testing.assert_allclose(result.learning, result.loss[:, 12] - result.loss[:, 1], rtol=1e-6)


def test_it_stops_between_passes_when_it_is_cancelled() -> None:
    asked = 0

    def checkpoint() -> None:
        nonlocal asked
        asked += 1
        if asked == 3:
            raise Cancelled("Stopped.", "Restart it.")

    with pytest.raises(Cancelled):
        run(planted(), PARAMS, checkpoint=checkpoint)
    assert asked == 3


def test_progress_reaches_the_end() -> None:
    reports: list[Progress] = []
    run(planted(), PARAMS, report=reports.append)
    assert [report.fraction for report in reports if report.phase == "scores"] == [1.0]
    assert reports[-1].fraction == 1.0
    assert (reports[-1].step, reports[-1].steps) == (2, 2)


def test_an_estimate_grows_with_the_work() -> None:
    info = replace(planted().info, n_ctx=4096, n_params=10**8, n_params_non_embedding=10**8)
    small, large = InductionParams(), InductionParams(seeds=32, length=500)
    few, many = (INDUCTION.estimate(Spec(params, info)) for params in (small, large))
    assert many.seconds > 20 * few.seconds
    assert many.peak_bytes > few.peak_bytes > 4 * info.n_params
    assert "GFLOP/s" in few.basis
    assert INDUCTION.estimate(Spec(large, info), throughput=1e13).seconds < many.seconds


def test_the_csv_has_all_scores_of_every_head_and_the_strongest_first() -> None:
    result, _ = run(planted(), PARAMS)
    header, first, *rest = export(result, "csv").content.decode().splitlines()
    assert {f"{name}_mean" for name in NAMES} <= set(header.split(","))
    assert first.startswith("1,0,")
    assert len(rest) == 7
    assert export(result, "csv").filename == "headscope-micro-induction.csv"
    page = export(result, "html").content.decode()
    assert "Induction head" in page
    assert json.loads(export(result, "json", figure="loss").content)["rows"][0][:2] == [0, 0]


def test_ties_keep_the_heads_in_order() -> None:
    assert strongest(np.zeros((2, 2, 2)), 3) == [(0, 0), (0, 1), (1, 0)]


# -- joined from pieces drawn at random -------------------------------------------------------------


def drawn(**params: Any) -> tuple[InductionResult, dict[str, np.ndarray]]:
    """Of nine draws on three layers of four heads: what is joined, and the numbers it was joined from."""
    asked_for = {"seeds": 9, "length": 6, "ablate": 5, "first_seed": 3, **params}
    spec = asked("induction", SMALL, **asked_for)
    source, seeds, gone = np.random.default_rng(4), asked_for["seeds"], min(asked_for["ablate"], 12)
    truth = {
        "scores": source.uniform(size=(7, seeds, 3, 4)),
        "loss": source.uniform(1, 5, (seeds, 12)),
        "first": source.uniform(4, 5, seeds),
        "second": source.uniform(0, 1, seeds),
        "rise": source.normal(size=(2, seeds, gone)),
    }
    done: dict[str, Kept] = {}
    for piece in INDUCTION.plan(spec):
        kind, draws, *ranks = piece.key.split("/")
        some = span(draws)
        if kind == "draws":
            losses = {name: truth[name][some] for name in ("loss", "first", "second")}
            done[piece.key] = {**losses, "scores": truth["scores"][:, some]}
        else:
            done[piece.key] = {"rise": truth["rise"][:, some, span(ranks[0])]}
    return INDUCTION.assemble(spec, done), truth


@pytest.mark.parametrize("cut", [False, True])
def test_draws_and_rises_stand_where_they_belong_however_they_are_cut(
    cut: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cut:
        cut_small(monkeypatch)
    found, truth = drawn()
    for name, scores in zip(NAMES, truth["scores"], strict=True):
        np.testing.assert_allclose(found.score(name), scores, rtol=1e-6)
    np.testing.assert_allclose(np.stack([found.rise_frozen, found.rise_free]), truth["rise"], rtol=1e-6)
    mean = truth["scores"][0].mean(axis=0).reshape(-1)
    best = sorted(range(12), key=lambda head: -mean[head])[:5]
    assert found.ablated_heads.tolist() == [list(divmod(head, 4)) for head in best]
    early, late = found.learning_pair
    assert (early, late) == (1, 11)
    np.testing.assert_allclose(found.learning, truth["loss"][:, 11] - truth["loss"][:, 1], rtol=1e-5)
    assert found.seeds == tuple(range(3, 12))
    assert found.copies_start == [0, 6]


def test_each_caveat_of_induction_is_told_when_it_is_due() -> None:
    assert drawn()[0].notes == []
    assert drawn(seeds=7)[0].notes == ["7 draws: the spread of a head is known roughly."]
    assert drawn(gates="abc")[0].notes == ["Measured under the gates abc, not on the ungated model."]


def test_the_headline_is_of_means_over_draws() -> None:
    found, truth = drawn()
    numbers = headline(found)
    assert set(numbers) == set(QUANTITIES)
    for name, index in (("induction", 0), ("previous_token", [s.name for s in SCORES].index("previous"))):
        mean = truth["scores"][index].mean(axis=0)
        layer, head = divmod(int(mean.argmax()), 4)
        assert numbers[f"{name}_head"] == f"{layer}.{head}"
        assert numbers[f"{name}_score"] == pytest.approx(mean.max(), rel=1e-6)
    assert numbers["loss_second_copy"] == pytest.approx(truth["second"].mean(), rel=1e-6)


def test_tables_of_scores_are_over_draws_and_in_their_units() -> None:
    found, truth = drawn()
    for index, score in enumerate(SCORES):
        table = figures.table(found, score.name)
        assert [column["unit"] for column in table["columns"][3:]] == [score.unit or ""] * 4
        values = np.array([row[3:] for row in table["rows"]]).T.reshape(4, 3, 4)
        of = truth["scores"][index]
        wanted = [of.mean(axis=0), of.std(axis=0, ddof=1), of.min(axis=0), of.max(axis=0)]
        np.testing.assert_allclose(values, wanted, rtol=1e-5)
    copies = [row[1] for row in figures.table(found, "loss")["rows"]]
    assert copies == [1] * 6 + [2] * 6


def test_the_loss_drawn_and_said_is_the_tables() -> None:
    found, truth = drawn()
    figure = figures.build(found, "loss")
    (line,) = (trace for trace in figure["data"] if trace.get("hovertemplate"))
    position, mean = decode(line["x"]), decode(line["y"])
    assert position.tolist() == list(range(1, 12)), "nothing predicts the first token"
    rows = figures.table(found, "loss")["rows"]
    np.testing.assert_allclose(mean, [row[2] for row in rows[1:]], rtol=1e-5)
    np.testing.assert_allclose(mean, truth["loss"].mean(axis=0)[1:], rtol=1e-5)
    said = figure["layout"]["meta"]["reading"]
    for name in ("first", "second"):
        assert f"{truth[name].mean():.2f} nats" in said
