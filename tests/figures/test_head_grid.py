"""The role grid against cases worked by hand, and its geometry as the page reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from figures.results import result, without_fit
from headscope.analyses import figures
from headscope.core.arrays import decode
from headscope.core.gating import roles
from headscope.figures import head_grid, theme
from headscope.figures.head_grid import GAP, Grid

CASES = json.loads((Path(__file__).parents[1] / "golden" / "roles.json").read_text())["cases"]


def z_of(figure: dict[str, Any]) -> np.ndarray[Any, Any]:
    (trace,) = figure["data"]
    return decode(trace["z"])


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
@pytest.mark.parametrize("mode", ["every", "always", "any"])
def test_roles_and_stripes_follow_the_worked_cases(case: dict[str, Any], mode: Any) -> None:
    g_plus, g_minus = decode(case["g_plus"]), decode(case["g_minus"])
    codes = roles.roles(g_plus, g_minus, case["threshold"])
    assert codes.tolist() == case["codes"]
    ran = roles.finished(g_plus, g_minus)
    figure = head_grid.roles(codes, ran, mode, theme.PALETTES["light"])
    assert z_of(figure).tolist() == case["z"][mode]


def test_a_click_finds_its_head() -> None:
    grid = Grid(layers=3, heads=4, stripes=5, group=2)
    cells = np.arange(3 * 4 * 5, dtype=np.uint8).reshape(3, 4, 5)
    z = grid.spread(cells, GAP)
    assert z.shape == (2 * 4 - 1, 3 * 6 - 1)
    for row, column in np.ndindex(z.shape):
        layer, stripe = divmod(column, grid.cell_columns)
        gap = row % 2 == 1 or stripe == 5
        assert z[row, column] == (GAP if gap else cells[layer, row // 2, stripe])


def test_edges_bound_every_column_and_row() -> None:
    grid = Grid(layers=3, heads=4, stripes=5, group=2)
    x, y = grid.x_edges(), grid.y_edges()
    assert len(x) == 3 * 6
    assert len(y) == 2 * 4
    assert (np.diff(x) > 0).all()
    assert (np.diff(y) > 0).all()
    for layer in range(3):
        inside = x[layer * 6 : layer * 6 + 6]
        assert np.isclose(inside.mean(), layer)
        assert np.allclose(np.diff(inside), (1 - head_grid.GAP_X) / 5)
    assert np.allclose((y[::2] + y[1::2]) / 2, grid.head_y)


def test_groups_stand_apart_and_are_bracketed() -> None:
    steps = np.diff(Grid(layers=1, heads=6, stripes=1, group=3).head_y)
    assert np.allclose(steps, [1, 1, 1 + head_grid.GROUP_SPACE, 1, 1])
    assert np.allclose(np.diff(Grid(layers=1, heads=6, stripes=1, group=1).head_y), 1)
    grouped = figures.build(result(heads=6, kv_heads=2), "roles")
    (bracket,) = [shape for shape in grouped["layout"]["shapes"] if shape["name"] == "kv-groups"]
    assert bracket["path"].count("M") == 2
    plain = figures.build(result(heads=6, kv_heads=6), "roles")
    assert not [shape for shape in plain["layout"]["shapes"] if shape["name"] == "kv-groups"]


def test_a_solid_cell_is_always() -> None:
    whole = result(layers=6, heads=6, kv_heads=6, seeds=4)
    z = z_of(figures.build(whole, "roles"))
    codes = roles.roles(whole.arrays["g_plus"], whole.arrays["g_minus"], 0.5)
    for layer, head in np.ndindex(6, 6):
        cell = z[2 * head, layer * 5 : layer * 5 + 4]
        assert sorted(cell) == sorted(codes[:, layer, head])
        assert (len(set(cell)) == 1) == (len(set(codes[:, layer, head])) == 1)


def test_every_code_has_the_colour_of_its_role() -> None:
    for name, colours in theme.PALETTES.items():
        trace = figures.build(result(), "roles", theme=name)["data"][0]
        for code, role in enumerate(roles.ROLE_NAMES):
            place = (code - trace["zmin"]) / (trace["zmax"] - trace["zmin"])
            below = next(colour for at, colour in reversed(trace["colorscale"]) if at < place)
            above = next(colour for at, colour in trace["colorscale"] if at > place)
            assert below == above == colours.role(role)
        assert trace["colorscale"][-1] == [1.0, theme.CLEAR]


def test_a_seed_without_a_fit_is_a_gap_and_leaves_the_means_alone() -> None:
    whole = result(seeds=3)
    lost = without_fit(whole, 1)
    z = z_of(figures.build(lost, "roles"))
    assert (z[::2].reshape(4, -1)[:, [2, 6]] == GAP).all()
    assert figures.build(lost, "roles")["layout"]["meta"]["failed_seeds"] == 1
    kept = whole.arrays["g_minus"][[0, 2]].mean(axis=0)
    shown = z_of(figures.build(lost, "facilitation"))
    assert np.allclose(shown[::2, ::2].T, kept)


def test_score_maps_show_mean_lowest_and_highest_seed() -> None:
    whole = result()
    scores = roles.scores(whole.arrays["g_plus"], whole.arrays["g_minus"])
    for name, score in scores.items():
        for mode, expected in (("every", score.mean(0)), ("always", score.min(0)), ("any", score.max(0))):
            z = z_of(figures.build(whole, name, mode=mode))
            assert np.allclose(z[::2, ::2].T, expected, atol=1e-6)
            assert np.isnan(z[1::2]).all()
            assert np.isnan(z[:, 1::2]).all()


def test_round_corners_fit_the_drawing() -> None:
    colours = theme.PALETTES["light"]
    figure = figures.build(result(), "roles")
    drawn = head_grid.rounded(figure, 640, figure["layout"]["height"], colours)
    masks = [shape for shape in drawn["layout"]["shapes"] if shape["name"] == "cells"]
    assert len(masks) == 1
    assert masks[0]["path"].count("M") == 1 + 2 * 4
    assert [shape["path"] for shape in figure["layout"]["shapes"] if shape["name"] == "cells"] != masks
