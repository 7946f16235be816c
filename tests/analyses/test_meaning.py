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
from headscope.analyses.meaning import MEANING
from headscope.analyses.meaning.names import FAMILIES, NONE, UNKNOWN
from headscope.analyses.meaning.result import MeaningResult, headline
from headscope.analyses.meaning.roles import ROLES
from headscope.analyses.meaning.schema import MeaningParams
from headscope.errors import Invalid
from headscope.gallery.shipped import FOLDER
from micro.model import random_model


def _names(found: Result) -> dict[str, str]:
    """Names of the heads that have one."""
    rows = figures.table(found, "names")["rows"]
    return {f"{row[0]}.{row[1]}": row[3] for row in rows if row[3] not in ("unknown", "none")}


def test_planted_scores_get_their_names() -> None:
    assert _names(result()) == {
        "0.3": "previous token",
        "1.0": "induction, copying",
        "1.1": "function vector of Pairs, sink",
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


@pytest.mark.parametrize(("score", "named"), [(0.41, True), (0.39, False)])
def test_the_threshold_decides(score: float, named: bool) -> None:
    found = of({"induction": induction(duplicate=at(score, (0, 1)))})
    assert ("0.1" in _names(found)) == named
    assert any("within two standard errors" in note for note in found.notes)


def test_evidence_says_score_error_and_what_was_asked() -> None:
    rows = figures.table(result(), "names")["rows"]
    said = rows[4][4]
    assert "attention to what followed the earlier copy 0.8 ± 0.01 (at least 0.4)" in said
    assert "positivity of the OV eigenvalues 0.9 (at least 0.5)" in said


def test_chance_is_that_of_a_head_that_looks_everywhere_alike() -> None:
    """Queries 6..11 of 12 tokens without BOS."""
    test = result().tests[0]
    assert test["chance"] == pytest.approx(np.mean([1 / (i + 1) for i in range(6, 12)]))


def test_conflicts_are_shown() -> None:
    told = result().conflicts
    assert [(each["head"], each["kind"]) for each in told] == [
        ("1.1", "rests-and-mediates"),
        ("1.1", "not-needed"),
    ]
    against = of({"induction": induction(), "eigen": eigen(at(-0.3, (1, 0), otherwise=0.0))})
    assert [each["kind"] for each in against.conflicts] == ["does-not-copy"]
    twice = of({"induction": induction(previous=at(0.45, (1, 0)))})
    assert "induction (0.80) and previous token (0.45)" in twice.conflicts[0]["text"]


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
    assert count["always_needed", "sink"] == count["always_harmful", "induction"] == 0
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


def test_chance_is_the_product_of_both_shares_and_holm_is_never_less_than_p() -> None:
    found = result()
    cross = found.cross
    assert cross is not None
    named = found.passed.astype(bool)
    for role, having in enumerate(cross.roles.astype(bool)):
        for test, passing in enumerate(named):
            assert cross.count[role, test] == int((having & passing).sum())
            chance = having.sum() * passing.sum() / 8
            # the mean of 500 permutations, whose counts vary by no more than their mean
            assert cross.expected[role, test] == pytest.approx(chance, abs=4 * np.sqrt(chance / 500))
    known = np.isfinite(cross.p)
    assert (cross.p[known] > 0).all()
    assert (cross.holm[known] >= cross.p[known] - 1e-7).all()
    assert (cross.holm[known] <= 1).all()


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
