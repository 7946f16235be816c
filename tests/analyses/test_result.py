"""The codec of results: what a class says by its fields is read, written and refused, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from jaxtyping import Float, UInt8

from figures.samples import SAMPLES
from headscope.analyses import ANALYSES, stored
from headscope.analyses.base import Result
from headscope.analyses.result import by_name, identity
from headscope.core.arrays import DTYPES, encode
from headscope.errors import Invalid
from micro.model import random_model
from micro.planted import PlantedTask
from services.results import changed, made

INFO = random_model().info
TYPED = [name for name in ANALYSES if ANALYSES[name].result is not Result]


@dataclass(frozen=True, kw_only=True, eq=False)
class Measured(Result):
    """One of each kind of field."""

    NAME: ClassVar[str] = "measured"

    scores: Float[np.ndarray, "layer head"]
    flags: UInt8[np.ndarray, " head"] | None = None
    by_kind: Mapping[str, Float[np.ndarray, " head"]] = by_name("kind_{}", ("one", "two"))
    count: int
    words: str | None = None


HEADER: Mapping[str, Any] = {
    "analysis": "measured",
    "schema_version": 1,
    "params": {"seeds": 2},
    "model": INFO,
    "task": None,
    "seeds": (0, 1),
}
SCORES = np.array([[0.5, np.nan], [np.inf, -np.inf]], np.float32)


def measured(**more: Any) -> Measured:
    return Measured(**{**HEADER, "scores": SCORES, "count": 3, **more})


def through_text(result: Result) -> dict[str, Any]:
    """As a store or a file has it: text that any JSON reader takes."""
    found: dict[str, Any] = json.loads(json.dumps(result.to_json(), allow_nan=False))
    return found


def _result(**arrays: np.ndarray) -> Result:
    return made("planted", 1, {"seeds": 2}, INFO, {"name": "planted"}, (0, 1), arrays, {"n_train": 3})


# -- there and back ---------------------------------------------------------------------------------


def test_a_result_survives_json_with_nan_in_its_arrays() -> None:
    gates = np.array([[0.5, np.nan], [np.inf, 1.0]], np.float32)
    result = _result(g_plus=gates)
    back = Result.from_json(json.loads(json.dumps(result.to_json(), allow_nan=False)))
    np.testing.assert_array_equal(back.arrays["g_plus"], gates)
    assert (back.analysis, back.params, back.model, back.task) == (
        result.analysis,
        result.params,
        result.model,
        result.task,
    )
    assert (back.seeds, back.values) == (result.seeds, result.values)


@settings(deadline=None, max_examples=60)
@given(
    array=st.sampled_from(DTYPES).flatmap(
        lambda code: arrays_of.arrays(np.dtype(code), arrays_of.array_shapes(min_dims=0, min_side=0))
    ),
    name=st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda name: name not in HEADER),
)
def test_any_array_that_no_field_knows_comes_back_bit_for_bit(array: np.ndarray, name: str) -> None:
    if name == "values":
        return
    back = Result.from_json(through_text(_result(**{name: array})))
    found = back.arrays[name]
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tobytes() == array.tobytes()


def test_each_kind_of_field_comes_back_as_itself() -> None:
    kinds = {"two": np.array([1.0, np.nan], np.float32)}
    flags = np.array([0, 1, 1], np.uint8)
    result = measured(flags=flags, by_kind=kinds, words="as it is")
    sent = through_text(result)
    assert set(sent) - set(HEADER) == {"values", "scores", "flags", "kind_two"}
    assert sent["values"] == {"count": 3, "words": "as it is"}
    back = Measured.from_json(sent)
    np.testing.assert_array_equal(back.scores, SCORES)
    np.testing.assert_array_equal(back.flags, flags)
    assert list(back.by_kind) == ["two"]
    np.testing.assert_array_equal(back.by_kind["two"], kinds["two"])
    assert (back.count, back.words, back.seeds) == (3, "as it is", (0, 1))
    assert back.other_arrays == back.other_values == {}
    assert through_text(back) == sent


@pytest.mark.parametrize("analysis", ANALYSES)
def test_every_analysis_result_is_read_into_its_class_and_written_as_it_was(analysis: str) -> None:
    result = SAMPLES[analysis]()
    sent = through_text(result)
    back = stored.read(sent)
    assert type(back) is ANALYSES[analysis].result
    assert through_text(back) == sent
    assert back.arrays.keys() == result.arrays.keys()


def test_arrays_lie_at_the_top_as_typed_arrays() -> None:
    sent = _result(g_plus=np.zeros((2, 1, 3), np.float32)).to_json()
    assert sent["g_plus"]["dtype"] == "f4"
    assert sent["g_plus"]["shape"] == "2, 1, 3"
    assert set(sent) == {"analysis", "schema_version", "params", "model", "task", "seeds", "values", "g_plus"}


def test_without_arrays_the_rest_is_the_same() -> None:
    whole, brief = measured().to_json(), measured().to_json(with_arrays=False)
    assert whole.keys() - brief.keys() == {"scores"}
    assert {name: whole[name] for name in brief} == brief


# -- other versions ---------------------------------------------------------------------------------


def test_an_earlier_version_lacks_what_has_a_default() -> None:
    back = Measured.from_json(through_text(measured()))
    assert back.flags is None
    assert back.by_kind == {}
    assert back.words is None
    assert "flags" not in back.arrays
    earlier = through_text(measured())
    del earlier["values"]["words"]
    assert Measured.from_json(earlier).words is None


def test_what_a_later_version_wrote_is_kept_and_written_again() -> None:
    later = through_text(measured())
    later["extra"] = encode(np.arange(3, dtype=np.uint16))
    later["kind_three"] = encode(np.zeros(2, np.float32))
    later["values"]["of_later"] = {"deep": [1, None]}
    back = Measured.from_json(later)
    assert set(back.other_arrays) == {"extra", "kind_three"}
    assert back.other_values == {"of_later": {"deep": [1, None]}}
    assert "three" not in back.by_kind
    assert through_text(back) == later
    assert through_text(replace(back, count=4))["values"]["of_later"] == {"deep": [1, None]}


def test_an_unknown_analysis_is_read_as_a_plain_result() -> None:
    sent = {**through_text(measured()), "analysis": "of-another-program"}
    back = stored.read(sent)
    assert type(back) is Result
    assert back.values["count"] == 3
    assert through_text(back) == sent


def test_the_class_is_chosen_by_the_analysis_alone() -> None:
    sample = through_text(SAMPLES["probe"]())
    with pytest.raises(Invalid, match="lacks"):
        stored.read({**sample, "analysis": "eigen"})
    with pytest.raises(Invalid, match="lacks analysis"):
        stored.read({name: value for name, value in sample.items() if name != "analysis"})


# -- refusals ---------------------------------------------------------------------------------------


def test_an_array_may_not_take_a_fields_name() -> None:
    with pytest.raises(Invalid, match="values"):
        _result(values=np.zeros(1)).to_json()


def test_a_damaged_result_is_refused() -> None:
    sent = _result(g_plus=np.zeros(3)).to_json()
    for damaged in (
        {key: value for key, value in sent.items() if key != "model"},
        {**sent, "model": {"name": "micro"}},
        {**sent, "model": None},
        {**sent, "model": "micro"},
        {**sent, "model": {**sent["model"], "n_wings": 2}},
        {**sent, "g_plus": [0, 0, 0]},
        {**sent, "seeds": None},
        {**sent, "seeds": 3},
        {**sent, "values": None},
        {**sent, "values": [["n_train", 3]]},
        {**sent, "params": None},
        {**sent, "task": "planted"},
    ):
        with pytest.raises(Invalid) as refused:
            Result.from_json(damaged)
        assert refused.value.code in ("malformed-result", "malformed-array")
        assert refused.value.remedy


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.zeros(2, np.float32), r"scores is float32\[2\], not \[layer head\]"),
        (np.zeros((2, 3, 1)), r"scores is float64\[2, 3, 1\]"),
        (np.zeros((2, 3), np.uint8), r"scores is uint8\[2, 3\]"),
    ],
)
def test_an_array_of_another_shape_or_type_is_refused_by_its_name(array: np.ndarray, said: str) -> None:
    sent = {**through_text(measured()), "scores": encode(array)}
    with pytest.raises(Invalid, match=said) as refused:
        Measured.from_json(sent)
    assert refused.value.code == "malformed-result"


def test_an_optional_array_of_another_type_is_refused_too() -> None:
    sent = {**through_text(measured()), "flags": encode(np.zeros(3, np.float32))}
    with pytest.raises(Invalid, match="flags"):
        Measured.from_json(sent)


@pytest.mark.parametrize("analysis", TYPED)
def test_what_a_class_needs_is_refused_by_its_name_where_it_is_missing(analysis: str) -> None:
    """Each array and value is left out in turn."""
    whole = through_text(SAMPLES[analysis]())
    needed = {
        each.name
        for each in fields(ANALYSES[analysis].result)
        if each.default is MISSING and each.default_factory is MISSING and each.name not in HEADER
    }
    assert needed
    for name in [*(name for name in whole if name not in HEADER and name != "values"), *whole["values"]]:
        lacking = {key: value for key, value in whole.items() if key != name}
        lacking["values"] = {key: value for key, value in whole["values"].items() if key != name}
        if name in needed:
            with pytest.raises(Invalid, match=rf"lacks {name}\.") as refused:
                stored.read(lacking)
            assert refused.value.code == "malformed-result"
        else:
            assert name not in stored.read(lacking).arrays


# -- what a result is of ----------------------------------------------------------------------------


def test_what_a_result_says_of_its_task() -> None:
    task = PlantedTask(title="Planted induction", content_hash="abc", judged="pair")
    assert identity(None) is None
    assert identity(task) == {
        "name": "planted",
        "title": "Planted induction",
        "content_hash": "abc",
        "judged": "pair",
    }


def test_a_changed_result_is_the_same_but_for_what_was_changed() -> None:
    sample = SAMPLES["probe"]()
    other = changed(sample, seeds=(7,))
    assert other.seeds == (7,)
    assert through_text(other) == {**through_text(sample), "seeds": [7]}


def test_a_value_that_came_later_is_not_written_where_it_is_missing() -> None:
    """So that a result of before is written as it was read."""
    gates = np.ones((1, INFO.n_layers, INFO.n_heads), np.float32)
    before = made("chg", 2, {}, INFO, None, (0,), {"g_plus": gates, "g_minus": gates})
    assert "chance" not in before.values
    later = changed(before, values={**before.values, "chance": 0.0})
    assert later.to_json()["values"]["chance"] == 0.0
