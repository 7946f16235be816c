"""Tables out of columns, and statistics over seeds that know what wasn't measured."""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.analyses.columns import flat, over_seeds, places, quietly, spread, table
from micro.model import random_model

INFO = random_model().info


def cell(value: Any) -> Any:
    """One number's way through a table."""
    return table([("x", "x", "", np.array([value]))])["rows"][0][0]


def test_columns_keep_their_order_titles_and_units() -> None:
    made = table([("b", "second", "nats", np.arange(2)), ("a", "first", "", np.array(["x", "y"]))])
    assert made["columns"] == [
        {"name": "b", "title": "second", "unit": "nats"},
        {"name": "a", "title": "first", "unit": ""},
    ]
    assert made["rows"] == [[0, "x"], [1, "y"]]


def test_columns_of_different_length_are_no_table() -> None:
    with pytest.raises(ValueError, match="shorter"):
        table([("a", "a", "", np.arange(3)), ("b", "b", "", np.arange(2))])


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_float32_is_shown_so_that_it_comes_back(value: float) -> None:
    shown = cell(np.float32(value))
    assert isinstance(shown, float)
    assert shown == pytest.approx(value, rel=1e-6, abs=1e-44)
    assert len(f"{shown:.15g}".lstrip("-0.").split("e")[0].replace(".", "").rstrip("0")) <= 7


@pytest.mark.parametrize(
    ("value", "kind"),
    [(np.uint16(3), int), (np.bool_(True), bool), (np.str_("w"), str), (np.float64(0.1), float)],
)
def test_cells_are_plain(value: Any, kind: type) -> None:
    assert type(cell(value)) is kind


def test_what_is_not_a_number_is_an_empty_cell() -> None:
    assert cell(np.nan) is None
    assert cell(np.float32("nan")) is None
    rows = table([("x", "x", "", np.array([None, 2], dtype=object))])["rows"]
    assert rows == [[None], [2]]


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_an_infinity_which_json_has_not_is_an_empty_cell(value: float) -> None:
    assert cell(value) is None
    json.dumps(table([("x", "x", "", np.array([1.0, value]))]), allow_nan=False)


@given(st.integers(1, 5), st.integers(1, 4), st.integers(1, 4))
def test_places_name_every_head_once_and_share_keys_in_consecutive_groups(
    layers: int, groups: int, each: int
) -> None:
    info = replace(INFO, n_layers=layers, n_heads=groups * each, n_kv_heads=groups)
    layer, head, group = (column[3].tolist() for column in places(info))
    assert list(zip(layer, head, strict=True)) == [
        (one, two) for one in range(layers) for two in range(groups * each)
    ]
    for shared in range(groups):
        mine = [h for h, g in zip(head, group, strict=True) if g == shared]
        assert sorted(set(mine)) == list(range(shared * each, (shared + 1) * each))


def test_one_column_of_more_axes_is_row_by_row() -> None:
    assert flat(np.arange(6).reshape(2, 3)).tolist() == [0, 1, 2, 3, 4, 5]
    assert flat([[1], [2]]).tolist() == [1, 2]


def test_over_seeds_leaves_out_those_that_failed() -> None:
    values = np.array([[0.2, 1.0], [np.nan, 3.0], [0.6, np.nan]])
    np.testing.assert_allclose(over_seeds(values, "every"), [0.4, 2.0])
    np.testing.assert_allclose(over_seeds(values, "always"), [0.2, 1.0])
    np.testing.assert_allclose(over_seeds(values, "any"), [0.6, 3.0])


def test_where_every_seed_failed_there_is_nothing_and_no_warning() -> None:
    nothing = np.full((2, 3), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mode in ("every", "always", "any"):
            assert np.isnan(over_seeds(nothing, mode)).all()
        assert np.isnan(spread(nothing)).all()
        assert math.isnan(float(quietly(np.nanmean, np.zeros(0))))


def test_spread_is_over_n_less_one_and_unknown_of_one_seed() -> None:
    values = np.array([[1.0, 1.0, 5.0], [3.0, np.nan, 5.0]])
    np.testing.assert_allclose(spread(values), [math.sqrt(2), np.nan, 0])
    assert np.isnan(spread(values[:1])).all()
