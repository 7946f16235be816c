"""Meaning: planted scores get their names, conflicts are shown, real runs of headscope-2l agree."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from figures.meaning_samples import INFO, at, eigen, functions, gating, induction, of, result, rules
from headscope.analyses import figures, stored
from headscope.analyses.base import Input, Result, Spec
from headscope.analyses.in_place import compute
from headscope.analyses.induction.result import InductionResult
from headscope.analyses.meaning import MEANING
from headscope.analyses.meaning.names import FAMILIES, NONE, UNKNOWN
from headscope.analyses.meaning.readings import beyond_first
from headscope.analyses.meaning.result import MeaningResult, headline
from headscope.analyses.meaning.roles import ROLES
from headscope.analyses.meaning.schema import MeaningParams
from headscope.errors import Invalid
from headscope.gallery.shipped import FOLDER
from micro.model import random_model
from services.results import changed


def _names(found: Result) -> dict[str, str]:
    """Names of the heads that have one."""
    rows = figures.table(found, "names")["rows"]
    return {f"{row[0]}.{row[1]}": row[3] for row in rows if row[3] not in ("unknown", "none")}


def test_planted_scores_get_their_names() -> None:
    assert _names(result()) == {
        "0.3": "previous token",
        "1.0": "induction, copying",
        "1.1": "function vector of Pairs",
        "1.2": "anti-copying",
    }


def test_the_map_shows_the_most_specific_name() -> None:
    first = result().first_name
    assert FAMILIES[first[1, 1]].key == "function_vector"
    assert FAMILIES[first[1, 0]].key == "induction"


def test_the_legend_has_its_room_on_a_small_screen() -> None:
    named, bare = figures.build(result(), "names"), figures.build(of({"eigen": eigen()}), "names")
    assert _entries(named) == 4
    # A grid of two layers is narrow there: an entry a row of 22 pixels.
    room = named["layout"]["margin"]["t"] - 10
    assert room == 22 * 4
    assert named["layout"]["height"] - bare["layout"]["height"] == 22 * (4 - _entries(bare))


def _entries(figure: dict[str, Any]) -> int:
    return sum(trace.get("type") == "scatter" and "name" in trace for trace in figure["data"])


def test_a_head_without_a_name_is_unknown_until_every_kind_of_run_is_there() -> None:
    assert result().first_name[0, 0] == UNKNOWN
    assert "No run of eigenvalues" in " ".join(of({"induction": induction()}).notes)
    everything: dict[str, Input] = {
        "induction": induction(),
        "eigen": eigen(),
        "rules": rules(),
        "functions": functions(),
    }
    found = of(everything)
    assert found.first_name[0, 0] == NONE
    assert _names(found)["0.2"] == "symbol abstraction"
    assert found.complete
    assert not any("unknown" in note for note in found.notes)


def test_a_head_that_no_run_has_a_number_for_is_unknown() -> None:
    positivity = at(0.9, (1, 0), otherwise=0.0)
    positivity[0, 1] = np.nan
    assert of({"eigen": eigen(positivity)}).first_name[0, 1] == UNKNOWN


@pytest.mark.parametrize(("score", "named"), [(0.45, True), (0.41, False), (0.39, False)])
def test_the_threshold_decides(score: float, named: bool) -> None:
    """Of the weight beside the first token; .41 of it lies above .4, but not surely."""
    found = of({"induction": induction(previous=at(0.95 * score, (0, 1)))})
    assert ("0.1" in _names(found)) == named
    close = any("within two standard errors" in note for note in found.notes)
    assert close == (score < 0.45)


def test_evidence_says_score_error_and_what_was_asked() -> None:
    rows = figures.table(result(), "names")["rows"]
    said = rows[4][4]
    assert "attention to what followed the earlier copy 0.842 ±" in said
    assert "of the 95 % of its attention not on the first token" in said
    assert "positivity of the OV eigenvalues 0.9 (at least 0.5, p " in said


def test_chance_is_that_of_a_head_that_looks_everywhere_alike() -> None:
    """Queries 6..11 of 12 tokens without BOS, the first token left out."""
    test = result().tests[0]
    assert test["chance"] == pytest.approx(np.mean([1 / i for i in range(6, 12)]))


def test_conflicts_are_shown() -> None:
    told = result().conflicts
    assert [(each["head"], each["kind"]) for each in told] == [
        ("1.1", "not-needed"),
    ]
    against = of({"induction": induction(), "eigen": eigen(at(-0.3, (1, 0), otherwise=0.0))})
    assert [each["kind"] for each in against.conflicts] == ["does-not-copy"]
    twice = of({"induction": induction(previous=at(0.5, (1, 0)))})
    assert "induction (0.84) and previous token (0.53)" in twice.conflicts[0]["text"]


def test_roles_and_names_are_counted_as_by_hand() -> None:
    found = result()
    assert found.cross is not None
    keys = [each["key"] for each in found.tests]
    count = {
        (role, key): int(found.cross.count[r, t])
        for r, (role, *_) in enumerate(ROLES)
        for t, key in enumerate(keys)
    }
    assert count["always_needed", "induction"] == count["always_needed", "previous"] == 1
    assert count["any_needed", "anti_copying"] == 1
    assert count["always_irrelevant", "function_vector:pairs"] == 1
    assert "sink" not in keys
    assert count["always_harmful", "induction"] == 0
    assert found.cross.sizes.tolist() == [2, 5, 1, 1, 2]


def test_headline_counts_the_needed_heads_that_have_a_name() -> None:
    numbers = headline(result())
    assert (numbers["heads_named"], numbers["of_heads"]) == (4, 8)
    assert (numbers["always_needed"], numbers["of_them_named"]) == (2, 2)


def test_without_a_gating_run_the_cross_table_is_empty_and_says_why() -> None:
    found = of({"induction": induction()})
    assert figures.table(found, "cross")["rows"] == []
    assert "No causal head gating run" in figures.build(found, "cross")["layout"]["meta"]["reading"]


def test_evidence_travels_through_a_result() -> None:
    found = result()
    again = MeaningResult.from_json(json.loads(json.dumps(found.to_json())))
    for one, other in zip(found.evidence.tested, again.evidence.tested, strict=True):
        assert one.test == other.test
        np.testing.assert_array_equal(one.passed, other.passed)


def test_no_evidence_is_refused_with_the_quickest_remedy() -> None:
    with pytest.raises(Invalid, match="no evidence") as refused:
        MEANING.estimate(Spec(MeaningParams(), INFO, None, {"gating": gating()}))
    assert "headscope run induction" in refused.value.remedy


def test_a_run_of_another_analysis_is_refused() -> None:
    with pytest.raises(Invalid, match="'induction', not of 'eigen'") as refused:
        of({"eigen": induction()})
    assert refused.value.code == "other-analysis"


def test_evidence_of_processed_weights_is_refused_but_for_eigenvalues() -> None:
    folded: dict[str, Input] = {
        name: replace(run, model=replace(INFO, weight_processing="folded"))
        for name, run in (("eigen", eigen()), ("induction", induction()))
    }
    assert (
        of({"eigen": folded["eigen"], "induction": induction()}).sources["eigen"] == "eigen, folded weights"
    )
    with pytest.raises(Invalid, match="induction: that run's weights are folded") as refused:
        of(folded)
    assert refused.value.code == "other-processing"


def _shipped(name: str) -> Result:
    with gzip.open(FOLDER / f"{name}.json.gz") as file:
        return stored.read(json.load(file)["result"])


@pytest.fixture(scope="module")
def two_layers() -> MeaningResult:
    given: dict[str, Input] = {
        "induction": _shipped("induction-headscope-2l"),
        "eigen": _shipped("eigen-headscope-2l"),
        "gating": _shipped("headscope-2l-induction"),
    }
    params = MeaningParams(**dict.fromkeys(given, "abc"))
    info = _shipped("induction-headscope-2l").model
    return compute(MEANING, Spec(params, info, None, given), random_model())


def test_the_shipped_model_has_its_induction_circuit_named(two_layers: MeaningResult) -> None:
    named = _names(two_layers)
    assert named["0.3"].startswith("previous token")
    assert named["1.5"] == named["1.2"] == "induction, copying"
    looks = {head for head, name in named.items() if "induction" in name or "previous" in name}
    assert looks == {"0.3", "1.2", "1.5"}


def test_the_needed_heads_of_the_shipped_run_are_its_induction_heads(two_layers: MeaningResult) -> None:
    keys = [each["key"] for each in two_layers.tests]
    needed = [role for role, *_ in ROLES].index("any_needed")
    assert two_layers.cross is not None
    assert two_layers.cross.count[needed, keys.index("induction")] == 2


# -- the cross table, worked by hand ----------------------------------------------------------------


def test_chance_is_the_product_of_both_shares_and_a_corrected_p_is_never_less() -> None:
    found = result()
    cross = found.cross
    assert cross is not None
    named = found.passed.astype(bool)
    for role, having in enumerate(cross.roles.astype(bool)):
        for test, passing in enumerate(named):
            assert cross.count[role, test] == int((having & passing).sum())
            chance = having.sum() * passing.sum() / 8
            assert cross.expected[role, test] == pytest.approx(chance, abs=1e-6)
    known = np.isfinite(cross.p)
    assert (cross.p[known] > 0).all()
    assert cross.least is not None
    assert (cross.p[known] >= cross.least[known] - 1e-7).all()
    # of 500 draws, whose smallest p strays by four standard errors at most
    slack = 4 * np.sqrt(cross.p[known] / 500)
    assert (cross.corrected[known] >= cross.p[known] - slack).all()
    assert (cross.corrected[known] <= 1).all()


def test_the_cross_tables_rows_are_the_arrays() -> None:
    found = result()
    cross = found.cross
    assert cross is not None
    table = figures.table(found, "cross")
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row, strict=True)) for row in table["rows"]]
    assert len(rows) == cross.count.size
    for row, (role, test) in zip(rows, np.ndindex(cross.count.shape), strict=True):
        assert row["both"] == cross.count[role, test]
        assert row["role_heads"] == cross.sizes[role]
        assert row["name_heads"] == int(found.passed[test].sum())
        assert row["name"] == found.tests[test]["name"]


def test_names_in_the_table_are_the_tests_passed() -> None:
    found = result()
    table = figures.table(found, "names")
    names = [column["name"] for column in table["columns"]]
    for place, row in enumerate(dict(zip(names, row, strict=True)) for row in table["rows"]):
        at = divmod(place, 4)
        passed = {each["name"] for each, ok in zip(found.tests, found.passed, strict=True) if ok[at]}
        listed = set(row["names"].split(", ")) if passed else set()
        assert listed == passed
        assert found.n_names[at] == len(passed)
        told = [each["text"] for each in found.conflicts if each["head"] == f"{at[0]}.{at[1]}"]
        assert row["conflicts"] == " ".join(told)


# -- beyond the first token, and surely -------------------------------------------------------------


def test_what_a_head_does_beyond_the_first_token_names_it() -> None:
    """1.2 gives .6 to the first token and .3 of the remaining .4 to the token before; 1.3 all but .05."""
    resting = at(0.6, (1, 2)) + at(0.9, (1, 3), otherwise=0.0)
    found = of({"induction": induction(sink=resting, previous=at(0.3, (1, 2), otherwise=0.04))})
    assert _names(found) == {"1.0": "induction", "1.2": "previous token"}
    row = figures.table(found, "names")["rows"][6]
    assert "of the 40 % of its attention not on the first token" in row[4]
    assert np.isnan(found.scores[:3, 1, 3]).all()
    text = " ".join(found.notes)
    assert "2 heads give 30 % of their attention or more to the first token" in text
    assert "except for 1 that keep less than 10 %" in text
    numbers = headline(found)
    assert (numbers["heads_named"], numbers["heads_without_a_name"], numbers["heads_resting"]) == (2, 6, 2)


def test_the_first_query_of_a_text_without_bos_does_not_count_its_rest_as_an_earlier_copy() -> None:
    """Six queries: the first one's earlier copy is the first token itself."""
    run = induction(sink=at(0.8), duplicate=at(0.8 / 6))
    assert isinstance(run, InductionResult)
    assert beyond_first(run, "duplicate", 0.1).max() < 0.1


def test_heads_that_look_by_chance_get_a_name_in_one_of_twenty_at_most() -> None:
    """Every head's true score is the threshold itself, the worst case; twenty runs of eight draws."""
    draw, named = np.random.default_rng(0), 0
    for _ in range(20):
        scores = 0.4 + draw.normal(0, 0.1, (8, 2, 4))
        whole = induction(8, sink=at(0.0, otherwise=0.0))
        run = changed(whole, arrays={**whole.arrays, "previous": scores.astype(np.float32)})
        found = of({"induction": run})
        keys = [each["key"] for each in found.tests]
        named += int(found.passed[keys.index("previous")].any())
    assert named <= 4  # one expected; more in one of four hundred


def test_without_an_error_no_head_is_named_by_where_it_looks_and_the_run_says_why() -> None:
    found = of({"induction": induction(1)})
    assert _names(found) == {}
    assert any("no error to test by" in note for note in found.notes)


def test_cells_that_cannot_be_significant_are_counted() -> None:
    text = " ".join(result().notes)
    assert "heads enough for a p below 0.05 before any correction" in text


def test_a_result_of_version_one_shows_its_sinks_and_says_that_no_name_was_tested() -> None:
    old = _shipped_of_version_one()
    assert figures.table(old, "names")["rows"]
    assert "by a threshold alone" in figures.build(old, "names")["layout"]["meta"]["reading"]
    assert "after Holm" in figures.build(old, "cross")["layout"]["meta"]["reading"]
    assert "heads_without_a_name" not in headline(old)


def _shipped_of_version_one() -> MeaningResult:
    """As such a run was stored: no q, no resting, p after Holm."""
    new = result()
    arrays = {
        name: array for name, array in new.arrays.items() if name not in ("q", "resting", "cross_least")
    }
    arrays["cross_holm"] = arrays.pop("cross_corrected")
    old = changed(new, schema_version=1, arrays=arrays)
    assert isinstance(old, MeaningResult)
    return old
