"""Composition as an analysis: the bundled model's induction circuit shows as its strongest K pairs."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import numpy as np
import plotly.graph_objects as go
import pytest

from analyses.circuit_runs import run, two_layer
from figures.circuit_samples import composition as sample
from headscope.analyses import ANALYSES, figures
from headscope.analyses.base import Spec
from headscope.analyses.composition.result import KINDS, QUANTITIES, CompositionResult
from headscope.analyses.composition.schema import CompositionParams
from headscope.analyses.in_place import compute
from headscope.core.arrays import decode
from headscope.core.circuits.weights import read_weights
from headscope.core.model.head_model import HeadModel
from headscope.errors import Cancelled, Refused

COMPOSITION = ANALYSES["composition"]


@pytest.fixture(scope="module")
def model() -> HeadModel:
    return two_layer()


@pytest.fixture(scope="module")
def result(model: HeadModel) -> CompositionResult:
    found = run("composition", model)
    assert isinstance(found, CompositionResult)
    return found


def test_the_previous_token_head_feeds_the_induction_heads_keys(result: CompositionResult) -> None:
    rows = figures.table(result, "k-matrix")["rows"]
    assert [row[:2] for row in rows[:2]] == [["0.3", "1.5"], ["0.3", "1.2"]]
    assert len(rows) == 64, "pairs in one layer have no score"
    assert rows[0][3] - rows[0][2] == pytest.approx(result.baseline, rel=1e-4)
    headline = COMPOSITION.headline(result)
    assert set(headline) == set(QUANTITIES)
    assert headline["strongest_k_pair"] == "0.3 → 1.5"


def test_pairs_in_the_wrong_order_have_no_score(result: CompositionResult) -> None:
    for kind in KINDS:
        scores = result.scores(kind)
        assert scores.shape == (2, 8, 2, 8)
        assert np.isfinite(scores[0, :, 1]).all()
        assert np.isnan(scores[0, :, 0]).all()
        assert np.isnan(scores[1]).all()


@pytest.mark.parametrize("name", figures.names("composition"))
@pytest.mark.parametrize("head", [None, "0.3", "1.7"])
def test_every_figure_can_be_drawn_and_read(result: CompositionResult, name: str, head: str | None) -> None:
    for theme in ("light", "dark"):
        figure = figures.build(result, name, theme=theme, head=head)
        json.dumps(figure, allow_nan=False)
        go.Figure(figure)
        assert figure["layout"]["meta"]["reading"].endswith(".")
    assert json.loads(json.dumps(figures.table(result, name, head=head), allow_nan=False))["rows"]


def test_the_graphs_threshold_is_a_share_of_the_strongest(result: CompositionResult) -> None:
    def lines(threshold: float, head: str | None = None) -> int:
        figure = figures.build(result, "k-graph", threshold, head=head)
        drawn = [trace for trace in figure["data"] if trace["mode"] == "lines"]
        return sum(len(decode(trace["x"])) // 3 for trace in drawn)

    strongest = np.nanmax(result.k)
    for threshold in (0.2, 0.5, 1.0):
        assert lines(threshold) == (result.k >= np.float32(threshold) * strongest).sum()
    assert lines(0.5, "1.7") == 0
    assert 0 < lines(0.2, "1.2") < lines(0.2)


@pytest.mark.parametrize(
    ("threshold", "head", "words"),
    [
        (1.0, None, "The line is the one pair that scores at least 100 % of"),
        (0.5, None, "Lines are 4 pairs that score at least 50 % of"),
        (0.5, "1.7", "No pair of head 1.7 scores at least 50 % of"),
    ],
)
def test_the_graph_counts_its_lines_in_words(
    result: CompositionResult, threshold: float, head: str | None, words: str
) -> None:
    assert words in figures.build(result, "k-graph", threshold, head=head)["layout"]["meta"]["reading"]


def test_partners_say_who_writes_and_who_reads(result: CompositionResult) -> None:
    rows = figures.table(result, "partners", head="1.5")["rows"]
    assert rows[0][:3] == ["K", "0.3", "writes to it"]
    assert {row[2] for row in figures.table(result, "partners", head="0.3")["rows"]} == {"reads from it"}


def test_a_large_model_shows_layers_and_stays_small(result: CompositionResult) -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 0.02, (30, 9, 30, 9)).astype(np.float32)
    earlier, later = np.arange(30)[:, None, None, None], np.arange(30)[None, None, :, None]
    scores = np.where(earlier < later, scores, np.nan).astype(np.float32)
    info = replace(result.model, n_layers=30, n_heads=9, n_kv_heads=3)
    large = replace(result, model=info, q=scores, k=scores, v=scores)
    sizes = {name: len(json.dumps(figures.build(large, name))) for name in figures.names("composition")}
    assert sum(sizes.values()) < 200_000, sizes
    cells = decode(figures.build(large, "k-matrix")["data"][0]["z"])
    assert cells.shape == (30, 30)
    assert cells[3, 7] == np.nanmax(scores[3, :, 7])
    assert len(figures.table(large, "k-matrix")["rows"]) == 1000


def test_one_layer_has_no_pairs_and_says_what_applies(result: CompositionResult) -> None:
    spec = Spec(CompositionParams(), replace(result.model, n_layers=1))
    for ask in (COMPOSITION.plan, COMPOSITION.estimate):
        with pytest.raises(Refused, match="one layer") as refused:
            ask(spec)
        assert "eigen" in refused.value.remedy


def test_scores_are_norms_of_products_worked_by_hand(model: HeadModel) -> None:
    """Raw weights in float64: |W_O W_K| / (|W_O| |W_K|) with W_O as W_V W_O, above the baseline."""
    import torch

    found = run("composition", model, weight_processing="raw", dtype="float64")
    assert isinstance(found, CompositionResult)
    weights = read_weights(model, "raw", torch.float64)
    first, second = weights.layer(0), weights.layer(1)

    def norm(matrix: torch.Tensor) -> float:
        return float(matrix.norm())

    for writer, reader in ((3, 5), (0, 7), (6, 2)):
        ov = first.W_V[writer] @ first.W_O[writer]
        qk = second.W_Q[reader] @ second.W_K[reader].T
        read = second.W_V[reader] @ second.W_O[reader]
        wanted = {
            "q": norm(ov @ qk) / norm(ov) / norm(qk),
            "k": norm(ov @ qk.T) / norm(ov) / norm(qk),
            "v": norm(ov @ read) / norm(ov) / norm(read),
        }
        for kind in KINDS:
            score = float(found.scores(kind)[0, writer, 1, reader]) + found.baseline
            assert score == pytest.approx(wanted[kind], rel=1e-4), (kind, writer, reader)


def test_the_matrix_the_table_and_the_headline_say_the_same(result: CompositionResult) -> None:
    for kind in KINDS:
        cells = decode(figures.build(result, f"{kind}-matrix")["data"][0]["z"])
        names = figures.build(result, f"{kind}-matrix")["data"][0]["x"]
        rows = figures.table(result, f"{kind}-matrix")["rows"]
        for earlier, later, above, score in rows:
            assert cells[names.index(earlier), names.index(later)] == pytest.approx(above, rel=1e-5)
            assert score == pytest.approx(above + result.baseline, rel=1e-5)
        above = [row[2] for row in rows]
        assert above == sorted(above, reverse=True)
        numbers = COMPOSITION.headline(result)
        assert numbers[f"strongest_{kind}_pair"] == f"{rows[0][0]} → {rows[0][1]}"
        assert numbers[f"strongest_{kind}_score"] == pytest.approx(above[0], rel=1e-6)


@pytest.mark.parametrize("head", ["0.3", "1.5"])
def test_a_selected_heads_pairs_are_its_own_and_all_of_them(result: CompositionResult, head: str) -> None:
    rows = figures.table(result, "k-matrix", head=head)["rows"]
    assert len(rows) == 8
    assert all(head in row[:2] for row in rows)
    partners = figures.table(result, "partners", head=head)["rows"]
    assert len(partners) == 8 * 3
    by_kind = {kind: [row for row in partners if row[0] == kind.upper()] for kind in KINDS}
    assert [row[3] for row in by_kind["k"]] == [row[2] for row in rows]
    bars = figures.build(result, "partners", head=head)["data"]
    for bar, kind in zip(bars, ("k", "q", "v"), strict=True):
        np.testing.assert_allclose(decode(bar["y"]), [row[3] for row in by_kind[kind]], rtol=1e-5)


def test_without_a_head_the_partners_are_those_of_the_strongest_pair() -> None:
    figure = figures.build(sample(), "partners")
    assert figure["layout"]["meta"]["head"] == [1, 0]
    assert figures.table(sample(), "partners")["rows"][0] == ["K", "0.2", "writes to it", pytest.approx(0.2)]


def test_which_weights_were_read_is_part_of_the_result_and_said(model: HeadModel) -> None:
    said = set()
    for processing in ("raw", "folded"):
        found = run("composition", model, weight_processing=processing)
        assert found.model.weight_processing == processing
        said.add(figures.build(found, "k-graph")["layout"]["meta"]["reading"].split(". ")[-1])
    assert len(said) == 2


def test_a_baseline_is_drawn_by_its_seed(model: HeadModel) -> None:
    one, again, other = (run("composition", model, baseline_seed=seed) for seed in (1, 1, 2))
    assert one.values["baseline"] == again.values["baseline"] != other.values["baseline"]
    # scores are above it, so they differ by what it does
    apart = other.values["baseline"] - one.values["baseline"]
    moved = (one.arrays["k"] - other.arrays["k"])[0, :, 1]
    np.testing.assert_allclose(moved, apart, atol=1e-5)


def test_pairs_of_a_model_of_three_layers_are_those_in_order() -> None:
    scores = np.full((3, 2, 3, 2), np.nan, np.float32)
    for one, a, two, b in product(range(3), range(2), range(3), range(2)):
        if one < two:
            scores[one, a, two, b] = 0.1 * one + 0.01 * a + 0.001 * two + 0.0001 * b
    result = sample()
    assert isinstance(result, CompositionResult)
    info = replace(result.model, n_layers=3, n_heads=2, n_kv_heads=2)
    whole = replace(result, model=info, q=scores, k=scores, v=scores)
    rows = figures.table(whole, "v-matrix")["rows"]
    assert len(rows) == 3 * 4
    assert rows[0][:2] == ["1.1", "2.1"]
    assert all(int(row[0][0]) < int(row[1][0]) for row in rows)


def test_composition_stops_at_a_checkpoint(model: HeadModel) -> None:
    def checkpoint() -> None:
        raise Cancelled("Stopped.", "Start it again.")

    with pytest.raises(Cancelled):
        compute(COMPOSITION, Spec(CompositionParams(), model.info), model, checkpoint=checkpoint)
