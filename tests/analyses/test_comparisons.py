"""Several runs side by side: what may be compared, what is said of it, and numbers computed another way."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figures.pattern_samples import induction
from figures.results import compared, on, result, without_fit
from headscope.analyses import comparisons
from headscope.analyses.base import Result
from headscope.analyses.comparisons import Compared
from headscope.analyses.comparisons.published import LLAMA
from headscope.core.arrays import decode
from headscope.core.gating import roles
from headscope.errors import Invalid, NotFound
from services.results import changed

RUNS = compared(one_model=False)
ONE_MODEL = compared(one_model=True)


def rows(name: str, runs: list[Result], **look: Any) -> list[dict[str, Any]]:
    table = comparisons.table(name, runs, **look)
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row, strict=True)) for row in table["rows"]]


def notes(runs: list[Result], name: str = "shares") -> str:
    return " ".join(comparisons.build(name, runs)["layout"]["meta"]["notes"])


def gates(minus: Any, plus: Any | None = None, **where: Any) -> Result:
    """A run with these gates, [seed, layer, head]; G+ open where it isn't said."""
    g_minus = np.asarray(minus, np.float32)
    seeds, layers, heads = g_minus.shape
    made = on(result(layers, heads, heads, seeds), **where)
    g_plus = np.ones_like(g_minus) if plus is None else np.asarray(plus, np.float32)
    return changed(made, arrays={**made.arrays, "g_minus": g_minus, "g_plus": g_plus})


# -- what may be compared --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "runs", "code"),
    [
        ("shares", [], "number-of-runs"),
        ("correlation", RUNS[:1], "number-of-runs"),
        ("overlap", ONE_MODEL[:1] * 2, "number-of-runs"),
        ("shares", [replace(RUNS[0]) for _ in range(25)], "number-of-runs"),
        ("ecdf", [RUNS[0], induction()], "not-gates"),
        ("shares", [RUNS[0], on(RUNS[1], weight_processing="folded")], "different-weights"),
        ("overlap", RUNS, "different-models"),
        ("overlap", [ONE_MODEL[0], on(ONE_MODEL[1], revision="other")], "different-models"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_the_reason(name: str, runs: list[Result], code: str) -> None:
    with pytest.raises(Invalid) as refused:
        comparisons.build(name, runs)
    assert refused.value.code == code
    assert refused.value.remedy


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    with pytest.raises(NotFound, match="shares, ecdf, correlation, overlap"):
        comparisons.build("nope", RUNS)
    with pytest.raises(Invalid, match="facilitation"):
        comparisons.build("ecdf", RUNS, score="nope")


def test_what_differs_is_said() -> None:
    fair = on(result(seeds=5), task="other")
    assert notes([on(result(seeds=5)), fair]) == ""
    assert "3 to 5 seeds" in notes([on(result()), fair])
    assert "only 2 fits: a role that both give may be missing in the next" in notes([on(result(seeds=2))])
    assert "1 of 5 seeds of tiny · Other failed" in notes([without_fit(fair, 2)])
    assert "has one seed" in notes([on(result(seeds=1))])
    longer = replace(fair, params={**fair.params, "steps": 500})
    assert "steps 4, 500" in notes([on(result(seeds=4)), longer])
    assert "bfloat16 and float32" in notes([on(result(seeds=4)), on(fair, task="other", dtype="bfloat16")])


def test_runs_of_one_model_and_task_are_told_apart() -> None:
    same = [Compared(RUNS[0], "a" * 20, "Tiny"), Compared(RUNS[0], "b" * 20, "Tiny")]
    meta = comparisons.build("shares", same)["layout"]["meta"]
    assert [run["label"] for run in meta["runs"]] == [
        "Tiny · Pairs · run aaaaaaaa",
        "Tiny · Pairs · run bbbbbbbb",
    ]
    assert len(comparisons.table("shares", [same[0], same[0]], published=False)["rows"]) == 1


# -- shares ----------------------------------------------------------------------------------------


def test_shares_worked_by_hand() -> None:
    run = gates([[[0.9, 0.6, 0.1, 0.1]], [[0.9, 0.4, 0.1, 0.1]]], [[[1, 1, 0.2, 1]], [[1, 1, 0.9, 1]]])
    (row,) = rows("shares", [run], published=False)
    assert (row["facilitation_always"], row["facilitation_any"], row["facilitation_mean"]) == (25, 50, 37.5)
    assert (row["interference_always"], row["interference_any"]) == (0, 25)
    assert (row["irrelevance_always"], row["irrelevance_any"]) == (25, 75)
    assert rows("shares", [run], published=False, threshold=0.95)[0]["facilitation_any"] == 0


def test_shares_at_the_fewest_seeds_are_the_mean_over_all_sets_of_so_many() -> None:
    few, many = on(result(seeds=2, seed=4)), on(result(seeds=5, seed=5), task="other")
    shown = rows("shares", [few, many], published=False)
    has = many.arrays["g_minus"] >= 0.5
    sets = [has[list(chosen)] for chosen in combinations(range(5), 2)]
    always = 100 * np.mean([part.all(axis=0).mean() for part in sets])
    some = 100 * np.mean([part.any(axis=0).mean() for part in sets])
    assert shown[1]["facilitation_always_at_2"] == pytest.approx(always)
    assert shown[1]["facilitation_any_at_2"] == pytest.approx(some)
    assert shown[0]["facilitation_any_at_2"] == shown[0]["facilitation_any"]
    drawn = rows("shares", [few, many], published=False, common=True)[1]
    assert (drawn["facilitation_always"], drawn["seeds"]) == (pytest.approx(always), 2)


def test_published_rows_stand_apart_and_change_nothing() -> None:
    alone, beside = rows("shares", RUNS, published=False), rows("shares", RUNS)
    assert beside[: len(alone)] == alone
    assert len(beside) == len(alone) + len(LLAMA)
    math = next(row for row in beside if (row["model"], row["task"]) == ("Llama-3.2-1B", "math"))
    assert math["source"].startswith("published: Nam et al.")
    assert (math["facilitation_always"], math["facilitation_any"]) == (38.3, 81.1)
    assert (math["interference_always"], math["interference_any"]) == (0.4, 26.0)
    assert math["irrelevance_always"] is math["facilitation_mean"] is None


def test_a_run_without_a_fit_has_no_shares() -> None:
    broken = without_fit(on(result(seeds=1)), 0)
    (row,) = rows("shares", [broken], published=False)
    assert row["facilitation_always"] is row["irrelevance_any"] is None
    assert "No seed of tiny · Pairs has a fit" in notes([broken])
    for name, one in comparisons.COMPARISONS.items():
        comparisons.build(name, [broken, *(ONE_MODEL if one.one_model else RUNS)])


# -- distributions ---------------------------------------------------------------------------------


def test_curves_count_heads() -> None:
    shown = rows("ecdf", RUNS)
    score = 1 - RUNS[1].arrays["g_plus"]
    at = next(row for row in shown if (row["task"], row["score"]) == ("Colours", 0.3))
    assert at["interference"] == pytest.approx(np.mean(score >= 0.3))
    per_seed = (score >= 0.3).mean(axis=(1, 2))
    assert (at["interference_low"], at["interference_high"]) == (
        pytest.approx(per_seed.min()),
        pytest.approx(per_seed.max()),
    )


def test_a_panel_for_each_task_and_one_legend_entry_for_each_model() -> None:
    figure = comparisons.build("ecdf", RUNS, score="irrelevance")
    lines = [trace for trace in figure["data"] if trace.get("fill") is None]
    assert [line["xaxis"] for line in lines] == ["x", "x2", "x2"]
    assert [(line["name"], line["showlegend"]) for line in lines] == [
        ("tiny", True), ("tiny", False), ("large", True),
    ]  # fmt: skip
    assert len({(line["line"]["color"], line["line"]["dash"]) for line in lines}) == 2


# -- correlation -----------------------------------------------------------------------------------


def test_correlation_against_sorted_scores() -> None:
    shown = rows("correlation", RUNS)
    assert (shown[0]["first"], shown[0]["second"]) == ("tiny · Pairs", "tiny · Colours")
    pooled = [np.sort(run.arrays["g_minus"].astype(float).reshape(-1)) for run in RUNS[:2]]
    grid = np.linspace(0, 1, 101)
    quantiles = [np.interp(grid, np.linspace(0, 1, len(values)), values) for values in pooled]
    assert shown[0]["facilitation"] == pytest.approx(np.corrcoef(*quantiles)[0, 1], abs=1e-6)
    matrix = decode(comparisons.build("correlation", RUNS)["data"][0]["z"])
    np.testing.assert_allclose(np.diag(matrix), 1, atol=1e-6)
    np.testing.assert_array_equal(matrix, matrix.T)
    assert matrix[0, 1] == pytest.approx(shown[0]["facilitation"], abs=1e-6)


def test_where_there_is_no_correlation_it_says_why() -> None:
    flat = gates(np.full((2, 2, 4), 0.5), task="flat")
    lost = without_fit(on(result(seeds=1), task="lost"), 0)
    shown = rows("correlation", [RUNS[0], flat, lost])
    assert shown[0]["facilitation"] is None
    assert "all heads of tiny · Flat score the same" in shown[0]["missing"]
    assert "no seed of tiny · Lost has a fit" in shown[1]["missing"]
    figure = comparisons.build("correlation", [RUNS[0], flat, lost])
    assert "score the same" in figure["data"][0]["hovertext"][0][1]


# -- overlap ---------------------------------------------------------------------------------------


def test_overlap_worked_by_hand() -> None:
    first = gates([[[0.9, 0.9, 0.1, 0.1]], [[0.9, 0.1, 0.1, 0.1]]], task="first")
    second = gates([[[0.9, 0.9, 0.9, 0.1]], [[0.9, 0.9, 0.1, 0.1]]], task="second")

    def needed(mode: str) -> dict[str, Any]:
        return rows("overlap", [first, second], mode=mode)[0]

    always, some, share = needed("always"), needed("any"), needed("every")
    assert (always["both"], always["first_only"], always["second_only"], always["neither"]) == (1, 0, 1, 2)
    assert always["expected"] == pytest.approx(1 * 2 / 4)
    assert always["phi"] == pytest.approx((1 * 2 - 0) / np.sqrt(1 * 3 * 2 * 2))
    assert (some["both"], some["second_only"]) == (2, 1)
    assert share["both"] == pytest.approx(1 * 1 + 0.5 * 1)
    assert share["phi"] == pytest.approx(np.corrcoef([1, 0.5, 0, 0], [1, 1, 0.5, 0])[0, 1])


def test_where_there_is_no_phi_it_says_why() -> None:
    none = gates(np.zeros((2, 2, 4)), task="none")
    row = rows("overlap", [ONE_MODEL[0], none], mode="always")[0]
    assert row["phi"] is None
    assert row["missing"] in ("no head is “needed” in every seed in tiny · None",
                              "no head is “needed” in every seed in tiny · Pairs")  # fmt: skip
    figure = comparisons.build("overlap", [ONE_MODEL[1], none])
    assert [words["text"] for words in figure["layout"]["annotations"]].count("0 (0)<br>φ –") == 2


def test_the_diagonal_counts_a_tasks_own_heads() -> None:
    figure = comparisons.build("overlap", ONE_MODEL, mode="any")
    (own,) = (words for words in figure["layout"]["annotations"] if (words["x"], words["y"]) == (1, 1))
    held = roles.shares(ONE_MODEL[1].arrays["g_plus"], ONE_MODEL[1].arrays["g_minus"])["facilitation"]
    assert own["text"] == f"{held.any * 8:.0f}"


# -- properties -------------------------------------------------------------------------------------

some = st.integers(0, 10**6)


def drawn(seed: int, task: str = "pairs") -> Result:
    """A run of one to four seeds."""
    return on(result(seeds=1 + seed % 4, seed=seed), task=task)


@settings(deadline=None, max_examples=25)
@given(seed=some, low=st.floats(0.05, 0.95), more=st.floats(0, 0.5))
def test_a_higher_threshold_leaves_no_more_heads_and_always_is_the_least(
    seed: int, low: float, more: float
) -> None:
    run = drawn(seed)
    (below,) = rows("shares", [run], published=False, threshold=low)
    (above,) = rows("shares", [run], published=False, threshold=min(1.0, low + more))
    for score in roles.SCORE_NAMES:
        for part in ("always", "any", "mean"):
            assert above[f"{score}_{part}"] <= below[f"{score}_{part}"] + 1e-9
        of = [below[f"{score}_{part}"] for part in ("always", "mean", "any")]
        assert of == sorted(of)
        assert of[0] >= 0
        assert of[-1] <= 100


@settings(deadline=None, max_examples=25)
@given(first=some, second=some, mode=st.sampled_from(("every", "always", "any")))
def test_overlap_counts_every_head_once_and_does_not_depend_on_the_order(
    first: int, second: int, mode: str
) -> None:
    one, other = drawn(first, "one"), drawn(second, "two")
    there, back = rows("overlap", [one, other], mode=mode), rows("overlap", [other, one], mode=mode)
    for row, turned in zip(there, back, strict=True):
        assert sum(row[part] for part in ("both", "first_only", "second_only", "neither")) == pytest.approx(8)
        for mine, theirs in (("both", "both"), ("first_only", "second_only"), ("expected", "expected")):
            assert row[mine] == pytest.approx(turned[theirs], abs=1e-6)
        assert (row["phi"] is None) == bool(row["missing"])
        if row["phi"] is not None:
            assert -1 - 1e-6 <= row["phi"] <= 1 + 1e-6
            assert row["phi"] == pytest.approx(turned["phi"], abs=1e-6)


@settings(deadline=None, max_examples=15)
@given(seed=some)
def test_a_run_beside_itself_is_the_same(seed: int) -> None:
    pair = [drawn(seed, "one"), drawn(seed, "two")]
    for row in rows("overlap", pair, mode="any"):
        assert row["first_only"] == row["second_only"] == 0
        assert row["phi"] is None or row["phi"] == pytest.approx(1)
    (alike,) = rows("correlation", pair)
    for score in roles.SCORE_NAMES:
        assert alike[score] == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("name", comparisons.COMPARISONS)
def test_a_view_follows_what_it_says_and_nothing_else(name: str) -> None:
    one = comparisons.COMPARISONS[name]
    runs = ONE_MODEL if one.one_model else RUNS
    changes: dict[str, Any] = {
        "threshold": 0.93, "mode": "any", "score": "interference", "published": False, "common": True,
    }  # fmt: skip
    plain = comparisons.build(name, runs)
    for option, value in changes.items():
        moved = comparisons.build(name, runs, **{option: value}) != plain
        assert moved == (option in one.follows), option


def test_units_of_comparisons() -> None:
    units = {
        name: {column["unit"] for column in comparisons.table(name, ONE_MODEL)["columns"]}
        for name in comparisons.COMPARISONS
    }
    assert units == {
        "shares": {"", "%"}, "ecdf": {"", "share"}, "correlation": {""}, "overlap": {"", "heads"},
    }  # fmt: skip
