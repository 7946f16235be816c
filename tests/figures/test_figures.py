"""All figures: what plotly accepts, what a page carries, what they say, what they looked like last time."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from figures import snapshots
from figures.results import result, without_fit
from figures.samples import SAMPLES
from headscope.analyses import ANALYSES, figures
from headscope.core.arrays import decode, is_typed
from headscope.core.gating import roles
from headscope.errors import Invalid, NotFound
from headscope.figures import curves, theme
from services.results import changed

NAMES = figures.names("chg")
CASES = [(analysis, name) for analysis in ANALYSES for name in figures.names(analysis)]


def wire(figure: dict[str, Any]) -> str:
    return json.dumps(figure, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def lists_of_numbers(value: Any) -> list[int]:
    if is_typed(value):
        return []
    if isinstance(value, dict):
        return [n for item in value.values() for n in lists_of_numbers(item)]
    if isinstance(value, list):
        own = [len(value)] if value and all(isinstance(item, int | float) for item in value) else []
        return own + [n for item in value for n in lists_of_numbers(item)]
    return []


def test_every_analysis_has_figures_each_by_a_name_of_its_own() -> None:
    for analysis in ANALYSES.values():
        assert analysis.figures
        names = [figure.name for figure in analysis.figures]
        assert len(set(names)) == len(names)
        assert sum(figure.of_whole_run for figure in analysis.figures) <= 1


@pytest.mark.parametrize(("analysis", "name"), CASES)
def test_a_figure_of_one_head_is_listed_and_shows_the_head_asked_for(analysis: str, name: str) -> None:
    listed = ANALYSES[analysis].figure(name).about_one_head
    meta = figures.build(SAMPLES[analysis](), name)["layout"]["meta"]
    assert ("head" in meta) == listed
    if listed:
        other = figures.build(SAMPLES[analysis](), name, head="1.0")["layout"]["meta"]
        assert other["head"] == [1, 0]


def test_a_large_run_fits_a_page() -> None:
    large = result(layers=32, heads=32, kv_heads=8, seeds=10, steps=500)
    sizes = {name: len(wire(figures.build(large, name)).encode()) for name in NAMES}
    assert sum(sizes.values()) <= 210_000, sizes


@pytest.mark.parametrize(("analysis", "name"), CASES)
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_plotly_accepts_it_with_the_template(analysis: str, name: str, colours: str) -> None:
    figure = figures.build(SAMPLES[analysis](), name, theme=colours)
    assert "template" not in figure["layout"]
    figure["layout"]["template"] = theme.theme()[colours]["template"]
    go.Figure(figure)


@pytest.mark.parametrize(("analysis", "name"), CASES)
def test_numbers_travel_as_typed_arrays(analysis: str, name: str) -> None:
    whole = result(layers=12, heads=4, seeds=3, steps=50) if analysis == "chg" else SAMPLES[analysis]()
    figure = figures.build(whole, name)
    assert max(lists_of_numbers(figure["data"]), default=0) <= 4


@pytest.mark.parametrize(("analysis", "name"), CASES)
def test_it_says_how_to_read_it(analysis: str, name: str) -> None:
    meta = figures.build(SAMPLES[analysis](), name)["layout"]["meta"]
    assert meta["title"]
    assert meta["reading"].endswith(".")


@pytest.mark.parametrize(("analysis", "name"), CASES)
def test_its_table_is_plain_json_with_a_cell_for_each_column(analysis: str, name: str) -> None:
    table = json.loads(json.dumps(figures.table(SAMPLES[analysis](), name), allow_nan=False))
    assert table["rows"]
    assert {len(row) for row in table["rows"]} == {len(table["columns"])}


@pytest.mark.parametrize("name", NAMES)
def test_failed_seeds_and_no_seed_at_all_can_be_drawn(name: str) -> None:
    some = without_fit(result(), 1)
    none = without_fit(without_fit(some, 0), 2)
    for lost in (some, none):
        wire(figures.build(lost, name))
        assert json.loads(json.dumps(figures.table(lost, name), allow_nan=False))["rows"]


@pytest.mark.parametrize(("analysis", "name"), CASES)
def test_every_colour_is_the_palettes(analysis: str, name: str) -> None:
    light, dark = (theme.PALETTES[key] for key in ("light", "dark"))
    values = [
        tone
        for colours in (light, dark)
        for value in asdict(colours).values()
        for tone in ([value] if isinstance(value, str) else value)
    ]
    assert len(set(values)) == len(values)
    painted = wire(figures.build(SAMPLES[analysis](), name, theme="light"))
    for key in ("page", "panel", "line", "ink", "muted", "needed", "harmful", "both", "irrelevant"):
        painted = painted.replace(getattr(light, key), getattr(dark, key))
    for tones in ("scale", "series", "functions"):
        for before, after in zip(getattr(light, tones), getattr(dark, tones), strict=True):
            painted = painted.replace(before, after)
    assert json.loads(painted) == json.loads(wire(figures.build(SAMPLES[analysis](), name, theme="dark")))


@pytest.mark.parametrize("name", sorted(snapshots.snapshots()))
def test_it_is_as_it_was(name: str) -> None:
    golden = json.loads((snapshots.GOLDEN / f"{name}.json").read_text())
    assert json.loads(json.dumps(snapshots.snapshots()[name])) == golden


def test_long_curves_are_means_of_equal_pieces() -> None:
    curve = np.arange(250.0)[None]
    ends, thin, k = curves.thinned(curve)
    assert k == 3
    assert ends[0] == 3
    assert ends[-1] == 250
    assert thin[0, 0] == 1.0
    assert thin[0, -1] == 249.0
    assert len(ends) == thin.shape[1] == 84
    assert curves.thinned(curve[:, :100])[2] == 1
    meta = figures.build(result(steps=500), "loss")["layout"]["meta"]
    assert meta["updates_per_point"] == 5
    assert "5 updates" in meta["reading"]


def test_ecdf_counts_heads_at_or_above() -> None:
    whole = result(layers=5, heads=6, kv_heads=6)
    line = next(t for t in figures.build(whole, "ecdf")["data"] if t.get("name") == "harmful")
    score = 1 - whole.arrays["g_plus"]
    at = decode(line["x"]).tolist().index(0.5)
    assert decode(line["y"])[at] == pytest.approx(100 * (score >= 0.5).mean(), abs=1e-3)


def test_layers_add_up_and_follow_the_threshold() -> None:
    whole = result()
    for threshold in (0.3, 0.5, 0.9):
        bars = figures.build(whole, "layers", threshold)["data"]
        assert np.allclose(sum(decode(bar["y"]) for bar in bars), 100)
        codes = roles.roles(whole.arrays["g_plus"], whole.arrays["g_minus"], threshold)
        assert decode(bars[0]["y"])[1] == pytest.approx(100 * (codes[:, 1] == roles.NEEDED).mean(), abs=1e-3)


def test_table_of_heads_agrees_with_the_headline() -> None:
    whole = result(layers=5, heads=6, kv_heads=3, seeds=4)
    table = figures.table(whole, "roles", 0.6)
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row, strict=True)) for row in table["rows"]]
    assert [(row["layer"], row["head"], row["kv_group"]) for row in rows[:7]] == [
        (0, 0, 0), (0, 1, 0), (0, 2, 1), (0, 3, 1), (0, 4, 2), (0, 5, 2), (1, 0, 0),
    ]  # fmt: skip
    headline = ANALYSES["chg"].headline(whole, 0.6)
    for name in ("always_needed", "any_needed", "always_harmful", "any_harmful"):
        assert np.mean([row[name] for row in rows]) == pytest.approx(headline[name])
    for row in rows:
        assert sum(row[f"share_{role}"] for role in roles.ROLE_NAMES) == pytest.approx(1)


def test_unknown_names_and_views_are_refused_with_a_remedy() -> None:
    with pytest.raises(NotFound, match="roles") as unknown:
        figures.build(result(), "pie")
    assert unknown.value.code == "unknown-figure"
    for threshold in (0.0, -1.0, 1.5, float("nan")):
        with pytest.raises(Invalid):
            figures.build(result(), "roles", threshold)
    with pytest.raises(Invalid):
        figures.build(result(), "roles", mode="sometimes")
    with pytest.raises(Invalid):
        figures.build(result(), "roles", theme="sepia")


def test_shares_against_seeds_end_at_the_headline_and_say_how_many_more() -> None:
    whole = result(layers=5, heads=6, kv_heads=6, seeds=4)
    meta = figures.build(whole, "seeds", 0.6)["layout"]["meta"]
    table = figures.table(whole, "seeds", 0.6)
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row, strict=True)) for row in table["rows"]]
    headline = ANALYSES["chg"].headline(whole, 0.6)
    for role in ("needed", "harmful"):
        last = next(row for row in rows if (row["role"], row["seeds"]) == (role, 4))
        for part in ("always", "any"):
            assert last[part] == pytest.approx(headline[f"{part}_{role}"])
            assert meta["intervals"][role][part] == pytest.approx((last[f"{part}_low"], last[f"{part}_high"]))
    ahead = [row for row in rows if row["extrapolated"]]
    assert {row["seeds"] for row in ahead} == set(range(5, 5 + min(4, meta["more_seeds"])))
    assert all(row["any_low"] is None for row in ahead)
    assert str(meta["more_seeds"]) in meta["reading"]


def test_one_seed_has_no_band_and_says_why() -> None:
    single = result(seeds=1)
    for name in ("seeds", "ecdf"):
        figure = figures.build(single, name)
        assert all("fill" not in trace for trace in figure["data"])
        assert "one seed" in figure["layout"]["meta"]["reading"].lower()
    assert figures.build(single, "seeds")["layout"]["meta"]["more_seeds"] is None


def test_rounded_gates_stand_beside_the_soft_ones_where_they_were_scored() -> None:
    whole = result()
    drawn = figures.build(whole, "heldout")["data"]
    hollow = [trace for trace in drawn if trace["marker"].get("symbol") == "diamond-open"]
    assert [decode(trace["x"])[0] for trace in hollow[:2]] == pytest.approx(
        100 * whole.arrays["rounded_accuracy"][:, 0]
    )
    rows = figures.table(whole, "heldout")["rows"]
    assert [row[0] for row in rows[-3:]] == ["minus, rounded"] * 3
    assert rows[-1][2] == pytest.approx(whole.arrays["rounded_accuracy"][1, 2])
    kept = {name: array for name, array in whole.arrays.items() if not name.startswith("rounded")}
    before = changed(whole, schema_version=1, arrays=kept)
    assert "Hollow" not in figures.build(before, "heldout")["layout"]["meta"]["reading"]
    assert len(figures.table(before, "heldout")["rows"]) == 12
