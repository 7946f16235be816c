"""Composition as an analysis: the bundled model's induction circuit shows as its strongest K pairs."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest

from analyses.circuit_runs import run, two_layer
from headscope.analyses import ANALYSES, figures
from headscope.analyses.base import Spec
from headscope.analyses.composition.result import KINDS, QUANTITIES, CompositionResult
from headscope.analyses.composition.schema import CompositionParams
from headscope.core.arrays import decode
from headscope.core.model.head_model import HeadModel
from headscope.errors import Refused

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
