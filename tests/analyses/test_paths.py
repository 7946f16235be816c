"""Path expansion as an analysis: what it sums to, whose losses it takes, which virtual heads it keeps."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file

from analyses.circuit_runs import run, two_layer
from core.circuits.conftest import load, save
from figures.circuit_samples import paths as sample
from headscope.analyses import ANALYSES, figures
from headscope.analyses.base import Context, Spec
from headscope.analyses.paths.kept import MOST_IMPORTANT, MOST_KEPT, by_importance, by_value
from headscope.analyses.paths.result import QUANTITIES, PathsResult
from headscope.analyses.paths.schema import PathsParams
from headscope.core.model.head_model import HeadModel
from headscope.core.patterns.random_repeats import repeated_tokens
from headscope.errors import Invalid, Refused
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.tasks.prompts import prompt_set

PATHS = ANALYSES["paths"]
TEXT = "ROMEO: the rose, the ro"


def paths(model: HeadModel, **params: Any) -> PathsResult:
    result = run("paths", model, **params)
    assert isinstance(result, PathsResult)
    return result


@pytest.fixture(scope="module")
def model() -> HeadModel:
    return two_layer()


@pytest.fixture(scope="module")
def result(model: HeadModel) -> PathsResult:
    return paths(model, text=TEXT, rows=2)


def test_terms_sum_to_the_models_own_logit(model: HeadModel, result: PathsResult) -> None:
    logits = model.logits(torch.tensor([model.tokenizer.encode(TEXT)]))[0, -1]
    assert result.token == int(logits.argmax())
    assert result.logit == pytest.approx(float(logits.max()), abs=1e-4)
    assert result.total == pytest.approx(float(logits.max()), abs=1e-4)
    assert float(result.value.sum()) == pytest.approx(result.logit, abs=1e-3)
    assert result.n_terms == len(result.value) == (1 + 16 + 64) * 3
    assert result.longer == result.through_mlps == 0


def test_the_headline_has_the_logit_and_a_loss_for_each_order(result: PathsResult) -> None:
    headline = PATHS.headline(result)
    assert set(headline) == set(QUANTITIES) - {"loss_order_3"}, "two layers have no paths of three heads"
    assert headline["logit"] == result.logit
    assert headline["loss_order_2"] == pytest.approx(float(result.orders[:, 2].mean()))
    largest = max(figures.table(result, "terms")["rows"], key=lambda row: abs(row[2]))
    assert headline["strongest_path"] == largest[0]


def test_on_repeated_tokens_virtual_heads_carry_what_the_second_copy_needs(result: PathsResult) -> None:
    rows = figures.table(result, "virtual")["rows"]
    assert [row[:2] for row in rows[:2]] == [["0.4", "1.5"], ["0.7", "1.5"]]
    assert rows[0][2] > 2 * rows[1][2] > 0.2
    by_keys = next(row[2] for row in rows if row[:2] == ["0.3", "1.5"])
    assert abs(by_keys) < 0.05, "induction composes through keys, a virtual head through values"
    orders = result.orders.mean(axis=0)
    assert orders[2] < orders[1] - 1, "one-head paths can't do induction"


def test_only_tokens_that_the_first_copy_tells_are_scored(model: HeadModel, result: PathsResult) -> None:
    assert result.scored == "second copy"
    spec = Spec(PathsParams(rows=1, length=6), model.info)
    found = PATHS.plan(spec)[1].compute(Context(model))
    ids = torch.from_numpy(repeated_tokens(model.tokenizer, 6, 1, 0))
    losses = torch.nn.functional.cross_entropy(model.logits(ids)[0, :-1], ids[0, 1:], reduction="none")
    assert float(found["orders"][-1]) == pytest.approx(float(losses[-5:].mean()), abs=1e-4)


def test_a_result_of_an_earlier_version_says_what_its_losses_are(result: PathsResult) -> None:
    stored = result.to_json()
    stored["schema_version"], stored["values"] = 2, {**stored["values"]}
    del stored["values"]["scored"]
    old = PathsResult.from_json(stored)
    assert old.scored == "all"
    for name in ("orders", "heads", "virtual"):
        reading = figures.build(old, name)["layout"]["meta"]["reading"]
        assert "the first copy too, which nobody can predict" in reading
        assert (
            "second copy that the first one tells" in figures.build(result, name)["layout"]["meta"]["reading"]
        )


def test_another_position_and_a_difference(model: HeadModel) -> None:
    params = {"text": TEXT, "at": 3, "token": 40, "against": 41, "rows": 1}
    found = paths(model, **params)
    logits = model.logits(torch.tensor([model.tokenizer.encode(TEXT)]))[0, 3]
    assert found.total == pytest.approx(float(logits[40] - logits[41]), abs=1e-4)
    assert "against" in figures.build(found, "terms")["layout"]["meta"]["reading"]


def test_kept_prompts_take_the_place_of_random_tokens(model: HeadModel) -> None:
    kept = prompt_set(["First Citizen: speak, speak.", "the the the", "a third one"])
    spec = Spec(PathsParams(prompts=kept.id, rows=2), model.info, None, {"prompts": kept})
    plan = PATHS.plan(spec)
    assert [piece.key for piece in plan] == ["terms", "row/0", "row/1", "virtual"]
    found = plan[2].compute(Context(model))
    ids = torch.tensor([model.tokenizer.encode(kept.texts[1])])
    loss = torch.nn.functional.cross_entropy(model.logits(ids)[0, :-1], ids[0, 1:])
    assert float(found["orders"][-1]) == pytest.approx(float(loss), abs=1e-4)
    assert tuple(PATHS.seeds(spec.params)) == ()


def test_a_model_with_mlps_names_what_went_through_them(tmp_path_factory: pytest.TempPathFactory) -> None:
    model = load(save("llama", tmp_path_factory.mktemp("llama")))
    found = paths(model, text="w3 w14 w15 w9", rows=1, length=6)
    ids = torch.tensor([model.tokenizer.encode("w3 w14 w15 w9")])
    assert found.total == pytest.approx(float(model.logits(ids)[0, -1].max()), abs=2e-3)
    assert found.through_mlps != 0
    names = [row[0] for row in figures.table(found, "terms")["rows"]]
    assert "through MLPs" in names
    assert found.heads.shape == (1, 3, 4)


def test_figures_of_one_head_show_its_paths(result: PathsResult) -> None:
    figure = figures.build(result, "terms", head="1.5")
    assert all("1.5" in word for word in figure["data"][0]["y"])
    assert figure["layout"]["meta"]["title"].endswith("1.5")
    pattern = result.pair_pattern
    np.testing.assert_allclose(pattern.sum(-1), 1, rtol=1e-4)


def rise(result: PathsResult) -> NDArray[np.float32]:
    """The mean rise of the loss without each virtual head."""
    assert result.virtual is not None
    mean: NDArray[np.float32] = result.virtual.mean(axis=0)
    return mean


def foremost(rise: float) -> tuple[bool, float]:
    """Sorts pairs that help before those that harm, the larger effect first."""
    return rise <= 0, -abs(rise)


def test_the_virtual_heads_kept_are_those_that_matter(result: PathsResult) -> None:
    mean = rise(result)
    pairs = [tuple(pair) for pair in result.pairs.tolist()]
    rises = [float(mean[pair]) for pair in pairs]
    assert rises == sorted(rises, key=foremost)
    every = np.sort(np.abs(mean[np.isfinite(mean)]))[::-1]
    sizes = np.sort(np.abs(rises))[::-1]
    assert set(every[:MOST_IMPORTANT]) <= set(sizes), "the largest effects, helpful or harmful"
    for later in range(8):
        best = min(range(8), key=lambda head: foremost(mean[0, head, 1, later]))
        assert (0, best, 1, later) in pairs, "each later head has its own first pair"
    assert len(set(pairs)) == len(pairs) <= MOST_KEPT


def test_one_layer_has_no_virtual_heads(tmp_path: Path) -> None:
    bundled = Catalogue(Settings(data_dir=tmp_path)).folder("headscope-2l")
    config = json.loads((bundled / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 1}))
    (tmp_path / "tokenizer.json").write_bytes((bundled / "tokenizer.json").read_bytes())
    weights = load_file(bundled / "model.safetensors")
    first = {name: tensor for name, tensor in weights.items() if not name.startswith("layers.1.")}
    save_file(first, tmp_path / "model.safetensors")
    found = paths(load(tmp_path), text=TEXT, rows=1)
    assert found.n_terms == (1 + 8) * 3
    meta = figures.build(found, "virtual")["layout"]["meta"]
    assert meta["reading"].startswith("This model has no virtual heads")
    for name in ("virtual-pattern", "virtual-spectrum"):
        with pytest.raises(Invalid, match="no virtual heads"):
            figures.build(found, name, head="0.1")


def test_tokens_that_share_a_character_are_called_by_it_on_axes_and_in_the_table(result: PathsResult) -> None:
    parts = [[7 + place, None, byte] for place, byte in enumerate(("e6", "97", "a5"))]
    split = replace(result, prompt=[*parts, [3, "<b>", "3c623e"], *result.prompt[4:]])
    names = ["日 1/3", "日 2/3", "日 3/3", "<b>"]
    trace = figures.build(split, "virtual-pattern")["data"][0]
    assert trace["x"] == trace["y"]
    assert trace["x"][:4] == ["0 日 1/3", "1 日 2/3", "2 日 3/3", "3 &lt;b&gt;"]
    table = figures.table(split, "virtual-pattern")
    assert [column["name"] for column in table["columns"]][1::2] == ["query_token", "key_token"]
    assert {row[0]: row[1] for row in table["rows"] if row[0] < 4} == dict(enumerate(names))
    assert {row[2]: row[3] for row in table["rows"] if row[2] < 4} == dict(enumerate(names))


@pytest.mark.parametrize("name", ["virtual-pattern", "virtual-spectrum"])
def test_a_selected_head_shows_its_most_important_pair(result: PathsResult, name: str) -> None:
    whole = figures.build(result, name)["layout"]["meta"]
    assert "0.4 → 1.5" in whole["title"]
    meta = figures.build(result, name, head="1.5")["layout"]["meta"]
    assert "0.4 → 1.5" in meta["title"]
    assert (
        "pairs of head 1.5 that are kept, this one helps most: without it the loss rises by 0.4"
        in meta["reading"]
    )
    kept = {(a, b) for a, b, _, word in figures.table(result, "virtual")["rows"] if word == "yes"}
    assert len(kept) == len(result.pairs)
    for later in range(8):
        head = f"1.{later}"
        title = figures.build(result, name, head=head)["layout"]["meta"]["title"]
        own = [row for row in figures.table(result, "virtual")["rows"] if row[1] == head]
        first = min(own, key=lambda row: foremost(row[2]))
        assert f"{first[0]} → {head}" in title, "of all its pairs, kept or not"
        assert (first[0], head) in kept


def test_a_head_whose_kept_pairs_all_harm_shows_the_worst(result: PathsResult) -> None:
    assert result.virtual is not None
    virtual = result.virtual.copy()
    virtual[:, 0, 7] = -np.abs(virtual[:, 0, 7])
    harming = replace(result, virtual=virtual, pairs=by_importance(virtual.mean(axis=0)))
    mean = rise(harming)
    pairs = [pair for pair in harming.pairs.tolist() if pair[:2] == [0, 7]]
    assert pairs
    worst = min(pairs, key=lambda pair: float(mean[tuple(pair)]))
    meta = figures.build(harming, "virtual-pattern", head="0.7")["layout"]["meta"]
    assert f"0.7 → 1.{worst[3]}" in meta["title"]
    assert f"without it the loss falls by {-mean[tuple(worst)]:.3f} nats" in meta["reading"]


def test_a_kept_pattern_and_spectrum_are_the_pairs_own(model: HeadModel, result: PathsResult) -> None:
    place = [tuple(pair) for pair in result.pairs.tolist()].index((0, 3, 1, 5))
    seen: dict[int, torch.Tensor] = {}
    with model.reading(lambda layer, pattern, _: seen.update({layer: pattern[0].double()})):
        model.logits(torch.tensor([model.tokenizer.encode(TEXT)]))
    expected = (seen[1][5] @ seen[0][3]).numpy()
    np.testing.assert_allclose(result.pair_pattern[place], expected, atol=1e-5)


def test_where_importance_isnt_measured_pairs_are_kept_by_value(
    model: HeadModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headscope.core.circuits.importance.MOST_PAIRS", 63)
    found = paths(model, text=TEXT, rows=1)
    totals = {
        (one, two): float(found.value[(found.first == one) & (found.second == two)].sum())
        for one in range(8)
        for two in range(8, 16)
    }
    ranked = sorted(totals, key=lambda pair: -abs(totals[pair]))[:MOST_IMPORTANT]
    assert found.pairs.tolist() == [[0, one, 1, two - 8] for one, two in ranked]
    assert found.pairs_by == "value"
    assert found.virtual is None
    reading = figures.build(found, "virtual-pattern")["layout"]["meta"]["reading"]
    assert "adds most to the logit on this prompt" in reading
    left_out = next(head for head in range(8) if head not in [one for one, _ in ranked])
    reading = figures.build(found, "virtual-pattern", head=f"0.{left_out}")["layout"]["meta"]["reading"]
    assert f"Head 0.{left_out} is half of none of the 12 pairs kept" in reading


def test_more_later_heads_than_places_keep_the_most_important() -> None:
    marginal = np.full((9, 4, 9, 4), np.nan)
    later = np.arange(36).reshape(9, 4)
    marginal[0, :, 1:] = 0.001 * later[1:]
    marginal[0, 0, 1] = [-5, -6, 7, 8]
    pairs = by_importance(marginal)
    assert len(pairs) == MOST_KEPT
    assert pairs[[0, 1, -2, -1]].tolist() == [[0, 0, 1, 3], [0, 0, 1, 2], [0, 0, 1, 1], [0, 0, 1, 0]]
    assert (np.diff(marginal[tuple(pairs.T)][:-2]) <= 0).all()
    laters = {tuple(pair[2:]) for pair in pairs.tolist()}
    assert laters >= {(8, head) for head in range(4)}
    assert len(laters) == 18, "the last two layers by size, then the most helpful of layers before"


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"text": "a", "at": 5}, "unknown-position"),
        ({"token": 512}, "unknown-token"),
        ({"against": 9999}, "unknown-token"),
        ({"text": "word " * 400}, "too-long"),
    ],
)
def test_bad_requests_are_refused_before_anything_runs(
    model: HeadModel, params: dict[str, Any], code: str
) -> None:
    spec = Spec(PathsParams(**params), model.info)
    with pytest.raises(Invalid) as refused:
        PATHS.estimate(spec, tokenizer=model.tokenizer)
    assert refused.value.code == code


def test_patterns_that_dont_fit_are_refused_with_numbers(
    model: HeadModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headscope.analyses.paths.compute.MOST_PATTERN_BYTES", 1000)
    with pytest.raises(Refused, match="GiB"):
        PATHS.estimate(Spec(PathsParams(), model.info), tokenizer=model.tokenizer)


# -- a result made up -------------------------------------------------------------------------------


def made_up() -> PathsResult:
    found = sample()
    assert isinstance(found, PathsResult)
    return found


def test_terms_and_what_is_left_add_up_to_the_logit() -> None:
    found = made_up()
    rows = figures.table(found, "terms")["rows"]
    assert [row[0] for row in rows] == [
        "token → 0.2 → 1.0", "token", "position → 0.2", "bias → 1.1", "token → 0.1 → 1.2", "through MLPs",
    ]  # fmt: skip
    assert [row[1] for row in rows] == [2, 0, 1, 1, 2, -1]
    assert sum(row[2] for row in rows) == pytest.approx(found.total)
    assert {c["name"]: c["unit"] for c in figures.table(found, "terms")["columns"]}["value"] == "logits"


def test_losses_by_order_are_means_over_sequences() -> None:
    found = made_up()
    rows = figures.table(found, "orders")["rows"]
    np.testing.assert_allclose([row[1] for row in rows], found.orders.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose([row[2] for row in rows], found.orders.std(axis=0, ddof=1), rtol=1e-5)
    numbers = PATHS.headline(found)
    assert numbers["strongest_path"] == "token → 0.2 → 1.0"
    assert [numbers[f"loss_order_{order}"] for order in range(3)] == pytest.approx([row[1] for row in rows])
    assert "loss_order_3" not in numbers


def test_a_heads_part_in_virtual_heads_is_the_most_of_any() -> None:
    found = made_up()
    assert found.virtual is not None
    mean = found.virtual.mean(axis=0)
    table = figures.table(found, "heads")
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row, strict=True)) for row in table["rows"]]
    for head in range(4):
        first, second = rows[head], rows[4 + head]
        assert first["virtual_first"] == pytest.approx(float(mean[0, head, 1].max()), rel=1e-5)
        assert first["virtual_second"] is None
        assert second["virtual_second"] == pytest.approx(float(mean[0, :, 1, head].max()), rel=1e-5)
        assert second["virtual_first"] is None
    ranked = [row[2] for row in figures.table(found, "virtual")["rows"]]
    assert len(ranked) == 16
    assert ranked == sorted(ranked, reverse=True)


@settings(deadline=None, max_examples=40)
@given(layers=st.integers(2, 4), heads=st.integers(1, 6), seed=st.integers(0, 99), good=st.floats(0, 1))
def test_virtual_heads_kept_are_the_largest_those_that_help_first(
    layers: int, heads: int, seed: int, good: float
) -> None:
    source = np.random.default_rng(seed)
    rise = np.full((layers, heads, layers, heads), np.nan)
    for one in range(layers):
        for two in range(one + 1, layers):
            rise[one, :, two] = source.normal(size=(heads, heads)) * np.where(
                source.uniform(size=(heads, heads)) < good, 1, -1
            )
    chosen = by_importance(rise)
    values = np.array([rise[tuple(pair)] for pair in chosen.tolist()])
    assert len(chosen) <= MOST_KEPT
    assert len({tuple(pair) for pair in chosen.tolist()}) == len(chosen)
    assert np.isfinite(values).all()
    helps = values > 0
    assert (np.diff(helps.astype(int)) <= 0).all(), "those that help come first"
    for part in (values[helps], values[~helps]):
        assert (np.diff(np.abs(part)) <= 0).all()
    known = np.sort(np.abs(rise[np.isfinite(rise)]))[::-1]
    largest = set(known[:MOST_IMPORTANT].tolist())
    assert largest <= set(np.abs(values).tolist())


def test_pairs_kept_by_value_join_their_sources() -> None:
    terms = [(0, 5, 1.0), (0, 5, 1.5), (1, 4, -2.0), (3, -1, 9.0), (-1, -1, 9.0), (2, 4, 0.5)]
    assert by_value(terms, 4).tolist() == [[0, 0, 1, 1], [0, 1, 1, 0], [0, 2, 1, 0]]
    assert by_value([], 4).shape == (0, 4)
