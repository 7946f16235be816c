"""A battery of prompts: an independent float64's means, blocks joined, cancelled and gone on with."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core import reference
from figures.pattern_samples import battery as sample
from headscope.analyses import figures
from headscope.analyses.base import Context, Kept, Progress, Spec
from headscope.analyses.battery import BATTERY
from headscope.analyses.battery.cuts import prompt_blocks
from headscope.analyses.battery.result import QUANTITIES, BatteryResult, headline
from headscope.analyses.battery.schema import BatteryParams
from headscope.analyses.battery.tally import Tally
from headscope.analyses.export import export
from headscope.analyses.references import GatesRef, PromptsRef, check_needed
from headscope.core.arrays import decode
from headscope.core.gating.gate_vector import gate_vector
from headscope.core.patterns.scores import SCORES
from headscope.errors import Cancelled, Invalid
from headscope.tasks.prompts import PromptSet, prompt_set
from micro.model import MicroModel, random_model
from micro.words import word_tokenizer

TEXTS = ("w1 w2 w3 w1 w2", "w4 w5 w6", "w7 w7 w7 w8 w7 w8", "w9", "w3 w4 w3 w4 w3 w4 w5")
PARAMS = BatteryParams(prompts="some")


def tiny() -> MicroModel:
    model = random_model(vocab=16)
    model.tokenizer = word_tokenizer()
    return model


def inputs(*texts: str) -> Mapping[str, Any]:
    return {"prompts": prompt_set(texts or TEXTS, "five")}


def run(
    model: MicroModel,
    params: BatteryParams,
    given: Mapping[str, Any],
    done: dict[str, Kept] | None = None,
    **more: Any,
) -> BatteryResult:
    """As the engine does it, kept pieces not computed again; after a trip through JSON, as it is stored."""
    spec, kept = Spec(params, model.info, None, given), {} if done is None else done
    for piece in BATTERY.plan(spec):
        if piece.key not in kept:
            kept[piece.key] = piece.compute(Context(model, {key: kept[key] for key in piece.needs}, **more))
    found = BATTERY.assemble(spec, kept)
    return BatteryResult.from_json(json.loads(json.dumps(found.to_json())))


def alone(model: MicroModel, text: str) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """One prompt's patterns [layer, head, query, key], losses and ids in float64."""
    ids = model.tokenizer.encode(text)
    found: list[np.ndarray] = []
    with model.reading(lambda _, pattern, __: found.append(pattern[0].numpy())):
        logits = model.logits(torch.tensor([ids]))[0].numpy()
    log = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    loss = np.array([np.nan, *(-log[i - 1, ids[i]] for i in range(1, len(ids)))])
    return np.stack(found), loss, ids


def by_hand(pattern: np.ndarray, ids: list[int]) -> list[float]:
    """One head's scores on one prompt, by loops; token 0 of the row is BOS and never repeats."""
    before = [[p for p in range(1, i) if ids[p] == ids[i]] if i else [] for i in range(len(ids))]
    repeats = [i for i, earlier in enumerate(before) if earlier]
    after = [i for i in repeats if before[i][-1] + 1 < i]
    followed = [i for i in repeats if before[i][0] + 1 < i]
    rest = range(1, len(ids))
    rows = [
        [pattern[i, before[i][-1] + 1] for i in after],
        [sum(pattern[i, p + 1] for p in before[i] if p + 1 < i) for i in followed],
        [sum(pattern[i, p] for p in before[i]) for i in repeats],
        [pattern[i, i - 1] for i in rest],
        [pattern[i, i] for i in rest],
        [pattern[i, 0] for i in rest],
        [-sum(a * np.log(a) for a in pattern[i] if a > 0) for i in rest],
    ]
    return [float(np.mean(row)) if row else np.nan for row in rows]


def test_means_spreads_counts_and_strongest_prompts_are_an_independent_float64s() -> None:
    model = tiny()
    result = run(model, PARAMS, inputs())
    seen = [alone(tiny(), text) for text in TEXTS]
    values = np.array([[[by_hand(p, ids) for p in layer] for layer in patterns] for patterns, _, ids in seen])
    values = values.transpose(0, 3, 1, 2)  # prompt, score, layer, head
    known = np.isfinite(values)
    assert (known.sum(axis=0) < len(TEXTS)).any()
    np.testing.assert_array_equal(result.count, known.sum(axis=0))
    np.testing.assert_allclose(result.mean, np.nanmean(values, axis=0), atol=1e-5)
    np.testing.assert_allclose(result.sd, np.nanstd(values, axis=0, ddof=1), atol=1e-5)
    excess = [
        [[reference.excess(p, [0, *ids[1:]]) for p in layer] for layer in patterns]
        for patterns, _, ids in seen
    ]
    above = np.array(
        [
            [[[np.mean(kind) if kind else np.nan for kind in head] for head in layer] for layer in prompt]
            for prompt in excess
        ]
    ).transpose(0, 3, 1, 2)
    assert result.above_mean is not None
    assert result.above_sd is not None
    np.testing.assert_allclose(result.above_mean, np.nanmean(above, axis=0), atol=1e-5)
    np.testing.assert_allclose(result.above_sd, np.nanstd(above, axis=0, ddof=1), atol=1e-5)
    assert result.queries is not None
    assert result.queries.tolist() == [[len(kind) for kind in prompt[0][0]] for prompt in excess]
    for place in np.ndindex(values.shape[1:]):
        column = np.where(known[(slice(None), *place)], values[(slice(None), *place)], -np.inf)
        for rank, row in enumerate(result.top[place]):
            if row < 0:
                assert known[(slice(None), *place)].sum() <= rank
                assert np.isnan(result.top_value[place][rank])
            else:
                assert column[row] == pytest.approx(np.sort(column)[::-1][rank], abs=1e-5)
    for row, (_, loss, ids) in enumerate(seen):
        assert result.n_tokens[row] == len(ids)
        np.testing.assert_allclose(result.loss[row], np.nanmean(loss), rtol=1e-5)
    assert result.n_repeats.tolist() == [2, 0, 4, 0, 4]
    (_, loss, _) = seen[0]
    assert result.loss_repeat[0] == pytest.approx(loss[5], rel=1e-5)
    assert result.loss_first[0] == pytest.approx(loss[1:4].mean(), rel=1e-5)
    assert np.isnan(result.loss_repeat[1])


def test_the_headline_counts_prompts_and_names_the_strongest_induction_head() -> None:
    result = run(tiny(), PARAMS, inputs(*TEXTS, "w1 w2 w3 w4 w1 w2 w3 w4"))
    numbers = headline(result)
    assert list(numbers) == list(QUANTITIES)
    assert numbers["prompts"] == 6
    layer, head = map(int, numbers["induction_head"].split("."))
    above = result.over_prompts("induction").mean
    assert numbers["induction_score"] == above.max() == above[layer, head]
    assert numbers["loss"] == pytest.approx(result.loss.mean())
    without = headline(run(tiny(), PARAMS, inputs("w1 w2", "w3")))
    assert "induction_head" not in without
    assert without["loss_repeat"] is None


def test_fewer_than_eight_repeats_in_all_prompts_name_no_head() -> None:
    result = run(tiny(), PARAMS, inputs("w1 w2 w3 w1 w2 w3"))
    assert result.over_prompts("induction").queries == 3
    assert "induction_head" not in headline(result)
    for name in ("induction", "heads"):
        assert "Too few repeats to tell" in figures.build(result, name)["layout"]["meta"]["reading"]


def test_a_result_of_before_columns_were_told_from_stripes_is_read_by_its_weights() -> None:
    stored = run(tiny(), PARAMS, inputs()).to_json()
    earlier = BatteryResult.from_json(
        {name: kept for name, kept in stored.items() if name != "queries" and not name.startswith("above_")}
    )
    assert earlier.over_prompts("induction").queries is None
    assert headline(earlier)["induction_score"] == earlier.mean[0].max()
    for figure in BATTERY.figures:
        figures.build(earlier, figure.name)
        figures.table(earlier, figure.name)


def test_prompts_together_are_as_alone() -> None:
    whole = run(tiny(), PARAMS, inputs())
    for row, text in enumerate(TEXTS):
        one = run(tiny(), PARAMS, inputs(text))
        for name in ("loss", "loss_first", "loss_repeat", "n_tokens", "n_repeats"):
            np.testing.assert_allclose(whole.arrays[name][row], one.arrays[name][0], rtol=1e-6)


def test_a_cancelled_run_goes_on_where_it_was_and_ends_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(tiny(), PARAMS, inputs())
    monkeypatch.setattr("headscope.analyses.cutting.PIECE_FLOP", 1.0)
    model, done, asked = tiny(), dict[str, Kept](), 0

    def checkpoint() -> None:
        nonlocal asked
        asked += 1
        if asked == 8:
            raise Cancelled("Stopped.", "Restart it.")

    with pytest.raises(Cancelled):
        run(model, PARAMS, inputs(), done, checkpoint=checkpoint)
    assert list(done) == ["lengths", "prompts/0-0", "prompts/1-1"]
    passes = len(model.seen)
    again = run(model, PARAMS, inputs(), done)
    assert len(model.seen) - passes == 3
    assert len(done) == 6
    for name, array in whole.arrays.items():
        np.testing.assert_allclose(again.arrays[name], array, rtol=1e-5, atol=1e-6)


def test_pieces_are_of_bounded_work_and_cover_every_prompt_once(monkeypatch: pytest.MonkeyPatch) -> None:
    info = tiny().info
    texts = [f"w{number % 9} " * (1 + number % 12) for number in range(1200)]
    spec = Spec(PARAMS, info, None, {"prompts": PromptSet("many", "", tuple(texts))})
    whole = prompt_blocks(texts, info)
    assert [index for block in whole for index in block] == list(range(1200))
    assert max(map(len, whole)) == 500
    _, first, *_ = BATTERY.plan(spec)
    assert (first.key, first.label) == ("prompts/0-499", "prompts 1–500 of 1200")
    monkeypatch.setattr("headscope.analyses.cutting.PIECE_FLOP", first.weight / 10)
    _, *cut = BATTERY.plan(spec)
    assert len(cut) > 20
    assert all(piece.weight <= first.weight / 10 for piece in cut)


def test_long_prompts_are_refused_with_their_numbers_or_skipped_and_listed() -> None:
    given = inputs("w1 w2", " ".join(["w3"] * 20), "w4", " ".join(["w5"] * 30))
    model = tiny()
    message = (
        r"2 prompts longer than the 16 tokens of micro's context: number 2 \(21 tokens\), 4 \(31 tokens\)"
    )
    with pytest.raises(Invalid, match=message) as refused:
        BATTERY.estimate(Spec(PARAMS, model.info, None, given), tokenizer=model.tokenizer)
    assert refused.value.code == "too-long"
    with pytest.raises(Invalid, match=message):
        run(model, PARAMS, given)
    assert model.seen == []
    params = BatteryParams(prompts="some", too_long="skip")
    BATTERY.estimate(Spec(params, model.info, None, given), tokenizer=model.tokenizer)
    result = run(model, params, given)
    assert result.skipped.tolist() == [0, 1, 0, 1]
    assert "2 of 4 prompts" in " ".join(result.notes)
    assert "skipped: 2, 4" in " ".join(result.notes)
    assert np.isnan(result.loss[[1, 3]]).all()
    assert result.count[3].max() == 2
    assert headline(result)["prompts"] == 2


def test_a_batch_of_only_long_prompts_can_not_be_skipped() -> None:
    with pytest.raises(Invalid, match="1 prompt longer"):
        run(tiny(), BatteryParams(prompts="some", too_long="skip"), inputs(" ".join(["w3"] * 20)))


def test_without_prompts_it_says_where_to_get_them() -> None:
    assert BATTERY.references == {"prompts": PromptsRef(needed=True), "gates": GatesRef()}
    assert BATTERY.params.model_json_schema()["properties"]["prompts"]["needed"]
    with pytest.raises(Invalid, match="needs prompts") as refused:
        check_needed(BATTERY.title, BATTERY.references, {})
    assert refused.value.code == "prompts-missing"
    assert "headscope prompts" in refused.value.remedy


def test_a_prompt_without_tokens_is_named() -> None:
    model = tiny()
    model.tokenizer = word_tokenizer(bos=None)
    result = run(model, PARAMS, inputs("w1", "w2 w2"))
    assert np.isnan(result.loss[0])
    assert result.n_tokens.tolist() == [1, 2]


def test_gates_are_measured_through() -> None:
    model = tiny()
    gates = np.ones((2, 3), np.float32)
    gates[0] = 0
    vector = gate_vector("no first layer", model.info, gates)
    given = {**inputs(), "gates": vector}
    gated = run(model, BatteryParams(prompts="some", gates=vector.id), given)
    plain = run(tiny(), PARAMS, inputs())
    np.testing.assert_allclose(gated.mean[:, 0], plain.mean[:, 0], atol=1e-6)
    assert not np.allclose(gated.mean[:, 1], plain.mean[:, 1], atol=1e-3)
    assert vector.id in " ".join(gated.notes)


def test_progress_counts_prompts() -> None:
    reports: list[Progress] = []
    run(tiny(), PARAMS, inputs(), report=reports.append)
    assert (reports[-1].step, reports[-1].steps, reports[-1].fraction) == (5, 5, 1.0)


def test_csv_of_heads_and_of_prompts() -> None:
    result = run(tiny(), PARAMS, inputs())
    heads = list(csv.DictReader(io.StringIO(export(result, "csv").content.decode())))
    assert len(heads) == 2 * 3
    assert {"induction_mean", "entropy_sd", "prefix_count", "sink_top3", "sink_top3_value"} <= set(heads[0])
    best = [float(row["induction_above_mean"]) for row in heads]
    assert best == sorted(best, reverse=True)
    layer, head = int(heads[0]["layer"]), int(heads[0]["head"])
    assert int(heads[0]["induction_top1"]) == result.top[0, layer, head, 0] + 1
    prompts = list(csv.DictReader(io.StringIO(export(result, "csv", figure="prompts").content.decode())))
    assert [row["prompt"] for row in prompts] == ["1", "2", "3", "4", "5"]
    assert prompts[1]["loss_repeat"] == ""
    assert export(result, "html").content
    assert [column["name"] for column in figures.table(result, "sink")["columns"]][3:6] == [
        "mean",
        "sd",
        "count",
    ]


def blocks(values: np.ndarray, cuts: list[int]) -> Iterator[Tally]:
    edges = [0, *sorted(cuts), len(values)]
    for start, stop in pairwise(edges):
        if stop > start:
            yield Tally.of(values[start:stop], start)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 999), n=st.integers(2, 12), cuts=st.lists(st.integers(1, 11), max_size=4))
def test_blocks_joined_equal_all_at_once(seed: int, n: int, cuts: list[int]) -> None:
    draw = np.random.default_rng(seed)
    values = draw.normal(size=(n, 2, 1, 3))
    values[draw.random(values.shape) < 0.3] = np.nan
    whole = Tally.of(values, 0)
    joined = Tally.joined(blocks(values, [cut for cut in cuts if cut < n]))
    np.testing.assert_array_equal(joined.count, whole.count)
    np.testing.assert_array_equal(joined.top, whole.top)
    np.testing.assert_array_equal(joined.top_value, whole.top_value)
    np.testing.assert_allclose(joined.means(), whole.means(), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(joined.spread(), whole.spread(), rtol=1e-9, atol=1e-12)


def test_an_estimate_grows_with_the_prompts() -> None:
    info = tiny().info
    few = BATTERY.estimate(Spec(PARAMS, info, None, inputs()))
    many = BATTERY.estimate(Spec(PARAMS, info, None, {"prompts": PromptSet("x", "", TEXTS * 1000)}))
    assert many.seconds > few.seconds
    assert "5,000 prompts" in many.basis


# -- a result made up -------------------------------------------------------------------------------


def made_up() -> BatteryResult:
    found = sample()
    assert isinstance(found, BatteryResult)
    return found


@pytest.mark.parametrize("index", range(len(SCORES)))
def test_a_scores_table_numbers_prompts_from_one(index: int) -> None:
    found, score = made_up(), SCORES[index]
    table = figures.table(found, score.name)
    names = [column["name"] for column in table["columns"]]
    units = {column["name"]: column["unit"] for column in table["columns"]}
    assert units["mean"] == units["sd"] == units["top1_value"] == (score.unit or "")
    for place, row in enumerate(dict(zip(names, row, strict=True)) for row in table["rows"]):
        at = (index, *divmod(place, 4))
        assert row["mean"] == pytest.approx(float(found.mean[at]), rel=1e-5)
        assert row["count"] == found.count[at]
        assert [row[f"top{rank}"] for rank in (1, 2, 3)] == [int(top) + 1 for top in found.top[at]]
        values = [row[f"top{rank}_value"] for rank in (1, 2, 3)]
        assert values == sorted(values, reverse=True)
    gave = int(found.count[index].max())
    reading = figures.build(found, score.name)["layout"]["meta"]["reading"]
    assert f"Mean over the {gave} prompts that gave a value." in reading


def test_dots_are_prompts_with_both_losses_by_their_numbers() -> None:
    found = made_up()
    dots = figures.build(found, "prompts")["data"][1]
    numbers = decode(dots["customdata"]).tolist()
    assert numbers == [2, 3, 4, 5], "nothing repeats in the first, the last was too long"
    rows = figures.table(found, "prompts")["rows"]
    np.testing.assert_allclose(decode(dots["x"]), [rows[n - 1][4] for n in numbers], rtol=1e-5)
    np.testing.assert_allclose(decode(dots["y"]), [rows[n - 1][5] for n in numbers], rtol=1e-5)
    assert [row[-1] for row in rows] == [False] * 5 + [True]


def test_the_strongest_heads_are_drawn_as_the_table_lists_them() -> None:
    found = made_up()
    bars = figures.build(found, "heads")["data"][0]
    rows = figures.table(found, "heads")["rows"]
    assert bars["x"] == [f"{row[0]}.{row[1]}" for row in rows]
    np.testing.assert_allclose(decode(bars["y"]), [row[3] for row in rows], rtol=1e-5)
    assert BATTERY.whole.name == "heads"
    assert headline(found)["prompts"] == 5
    assert headline(found)["loss_repeat"] == pytest.approx(float(np.nanmean(found.loss_repeat)), rel=1e-6)


def test_where_nothing_repeats_no_map_pretends_to_know() -> None:
    result = run(tiny(), PARAMS, inputs("w1 w2", "w3"))
    reading = figures.build(result, "induction")["layout"]["meta"]["reading"]
    assert reading.endswith("No prompt gave a value: nothing repeats in them.")
    assert figures.build(result, "heads")["data"][0]["x"] == []
