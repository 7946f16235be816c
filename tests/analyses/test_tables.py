"""Tables and figures of every analysis: what must hold of all of them, on a small result of each."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from figures.samples import SAMPLES
from headscope.analyses import ANALYSES, figures
from headscope.analyses.base import Result
from headscope.core.arrays import decode
from headscope.errors import HeadscopeError, Invalid, NotFound

CASES = [(name, figure.name) for name, analysis in ANALYSES.items() for figure in analysis.figures]
UNITS = {"", "nats", "logits", "share", "probability", "%"}
RESULTS: dict[str, Result] = {name: sample() for name, sample in SAMPLES.items()}

MAPS = {
    ("relatives", "left_out"): "left_out",
    ("relatives", "direct"): "direct",
    ("probe", "accuracy"): "accuracy",
    ("induction", "previous"): "mean",
    ("battery", "sink"): "mean",
    ("evaluation", "gates"): "gate",
    ("eigen", "copying"): "ov_positivity",
    ("eigen", "matching-all"): "qk_all_positivity",
    ("residual", "memory"): "erasing",
    ("mediation-function-vectors", "effect"): "over_tasks",
    ("mediation-abstract-rules", "retrieval"): "retrieval",
    ("sufficiency", "subset"): "open",
    ("circuit-test", "heads"): "member",
    ("chg", "facilitation"): "mean",
    ("chg", "irrelevance"): "mean",
}
"""Maps of heads, and the column of their tables that they show."""


def column(table: dict[str, Any], name: str) -> list[Any]:
    names = [each["name"] for each in table["columns"]]
    return [row[names.index(name)] for row in table["rows"]]


@pytest.mark.parametrize(("analysis", "figure"), CASES)
def test_columns_have_a_name_of_their_own_a_title_and_a_unit(analysis: str, figure: str) -> None:
    columns = figures.table(RESULTS[analysis], figure)["columns"]
    names = [each["name"] for each in columns]
    assert len(set(names)) == len(names)
    for each in columns:
        assert re.fullmatch(r"[a-zA-Z0-9_:-]+", each["name"])
        assert each["title"].strip()
        assert each["unit"] in UNITS


@pytest.mark.parametrize(("analysis", "figure"), CASES)
def test_what_is_named_a_share_is_one(analysis: str, figure: str) -> None:
    table = figures.table(RESULTS[analysis], figure)
    for each in table["columns"]:
        if each["unit"] == "share":
            known = [value for value in column(table, each["name"]) if value is not None]
            assert all(-1 <= value <= 2 for value in known), "a share, not a percentage"


@pytest.mark.parametrize(("analysis", "figure"), CASES)
def test_a_table_of_heads_has_each_of_them_once(analysis: str, figure: str) -> None:
    table, model = figures.table(RESULTS[analysis], figure), RESULTS[analysis].model
    if [each["name"] for each in table["columns"][:3]] != ["layer", "head", "kv_group"]:
        return
    places = [(row[0], row[1]) for row in table["rows"]]
    assert sorted(places) == [(one, two) for one in range(model.n_layers) for two in range(model.n_heads)]
    assert all(group == head // 2 for _, head, group in (row[:3] for row in table["rows"]))


def test_most_analyses_have_a_table_of_heads() -> None:
    """The test above looks at some."""
    of_heads = {
        analysis
        for analysis, figure in CASES
        if figures.table(RESULTS[analysis], figure)["columns"][0]["name"] == "layer"
    }
    assert len(of_heads) >= 12


@pytest.mark.parametrize(("analysis", "figure"), CASES)
def test_looking_changes_nothing(analysis: str, figure: str) -> None:
    """The same view gives the same picture and table, and leaves the result as it was."""
    before = {name: array.copy() for name, array in RESULTS[analysis].arrays.items()}
    first = figures.build(RESULTS[analysis], figure, 0.7, "any", "dark")
    assert figures.build(RESULTS[analysis], figure, 0.7, "any", "dark") == first
    for name, array in RESULTS[analysis].arrays.items():
        np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize(("analysis", "figure"), CASES)
def test_a_head_that_the_model_has_not_is_refused_everywhere(analysis: str, figure: str) -> None:
    for head in ("2.0", "0.4", "-1.0", "1", "a.b"):
        for look in (figures.build, figures.table):
            with pytest.raises(Invalid) as refused:
                look(RESULTS[analysis], figure, head=head)
            assert refused.value.code == "no-head"


@pytest.mark.parametrize(("analysis", "figure"), CASES)
def test_every_head_can_be_looked_at_or_is_refused_with_a_reason(analysis: str, figure: str) -> None:
    about = ANALYSES[analysis].figure(figure).about_one_head
    shown = 0
    for layer in range(2):
        for head in range(4):
            try:
                meta = figures.build(RESULTS[analysis], figure, head=f"{layer}.{head}")["layout"]["meta"]
            except NotFound as error:
                assert error.code == "head-not-computed"  # noqa: PT017
                continue
            shown += 1
            assert not about or meta["head"] == [layer, head] or "head" not in meta
    assert shown > 0


def shown(figure: dict[str, Any], heads: int) -> np.ndarray:
    """The number of each head in a map: rows are heads, with gaps between groups and columns between."""
    z = decode(figure["data"][0]["z"])
    rows = [row for row in z if np.isfinite(row).any()]
    assert len(rows) == heads
    columns = [of for of in np.array(rows).T if np.isfinite(of).any()]
    return np.array(columns)


@pytest.mark.parametrize(("analysis", "figure"), MAPS)
def test_a_map_shows_its_tables_numbers_head_by_head(analysis: str, figure: str) -> None:
    result = RESULTS[analysis]
    layers, heads = result.model.n_layers, result.model.n_heads
    values = np.array(column(figures.table(result, figure), MAPS[analysis, figure]), float)
    values = values.reshape(layers, heads)
    values = values[np.isfinite(values).any(axis=1)]
    drawn = shown(figures.build(result, figure), heads)
    each = len(drawn) // len(values)
    assert len(drawn) == each * len(values)
    sign = -1 if (analysis, figure) == ("residual", "memory") else 1
    for layer, of_layer in enumerate(values):
        for cell in drawn[each * layer : each * (layer + 1)]:
            np.testing.assert_allclose(sign * cell, of_layer, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("analysis", ANALYSES)
def test_an_unknown_figure_is_refused_with_those_there_are(analysis: str) -> None:
    with pytest.raises(HeadscopeError) as unknown:
        figures.table(RESULTS[analysis], "pie")
    assert unknown.value.code == "unknown-figure"
    for name in figures.names(analysis):
        assert name in unknown.value.remedy
