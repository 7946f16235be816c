"""What travels between pages, web and workers: examples are true, and bad input is refused by its name."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from headscope import messages
from headscope.core.arrays import decode, encode, is_typed
from headscope.core.model.tokens import Token
from headscope.messages import (
    CircuitIn,
    CrossedIn,
    GatesIn,
    GateVectorIn,
    LabIn,
    PromptIn,
    Schema,
    TokenOut,
    TypedArray,
)
from headscope.messages.questions import ACCURACY, QUESTIONS, Question

LIVE = (*QUESTIONS, ACCURACY)
SCHEMAS = {
    name: each
    for name, each in vars(messages).items()
    if inspect.isclass(each) and issubclass(each, Schema) and each.model_fields
}
WITH_EXAMPLE = [name for name, each in SCHEMAS.items() if each.model_config.get("json_schema_extra")]
BASES = {"AboutModel", "AccuracyIn", "CircuitIn", "ProofIn"}
"""Those that are asked with others' fields, or with two words."""

Live = Question[Any, Any]
by_name = pytest.mark.parametrize("name", WITH_EXAMPLE)
live = pytest.mark.parametrize("question", LIVE, ids=lambda question: question.name)


def faults(error: pytest.ExceptionInfo[ValidationError]) -> set[str]:
    """The names of the fields at fault."""
    return {str(fault["loc"][0]) if fault["loc"] else "" for fault in error.value.errors()}


def example_of(kind: type[Schema]) -> dict[str, Any]:
    """A fresh copy of a message's example, or the least that it takes."""
    if kind.__name__ in BASES:
        return {"model": "headscope-2l", **({"task": "induction"} if "task" in kind.model_fields else {})}
    return dict(json.loads(json.dumps(kind.example())))


def typed_arrays(value: Any) -> Iterator[Any]:
    if is_typed(value):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from typed_arrays(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from typed_arrays(inner)


# -- examples --------------------------------------------------------------------------------------------


def test_every_message_has_an_example() -> None:
    assert set(SCHEMAS) - set(WITH_EXAMPLE) <= BASES


@by_name
def test_an_example_is_its_own(name: str) -> None:
    """Inherited ones would lack what the class adds."""
    kind = SCHEMAS[name]
    kind.model_validate(example_of(kind))
    needed = {field for field, info in kind.model_fields.items() if info.is_required()}
    assert needed <= set(kind.example()) <= set(kind.model_fields)
    assert kind.example() in kind.model_json_schema()["examples"]


@by_name
def test_an_example_survives_its_travel(name: str) -> None:
    kind = SCHEMAS[name]
    there = kind.model_validate(example_of(kind))
    again = kind.model_validate_json(there.model_dump_json())
    assert again == there
    assert kind.model_validate(json.loads(json.dumps(there.model_dump(mode="json")))) == there


@by_name
def test_an_examples_arrays_can_be_read(name: str) -> None:
    for array in typed_arrays(example_of(SCHEMAS[name])):
        TypeAdapter(TypedArray).validate_python(array)
        assert decode(array).dtype.kind in "fu"


# -- refusals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCHEMAS)
def test_an_unknown_field_is_refused_by_its_name(name: str) -> None:
    kind = SCHEMAS[name]
    with pytest.raises(ValidationError) as error:
        kind.model_validate({**example_of(kind), "nonsense": 1})
    assert faults(error) == {"nonsense"}


@pytest.mark.parametrize("name", SCHEMAS)
def test_what_is_needed_and_missing_is_named(name: str) -> None:
    kind = SCHEMAS[name]
    for field, info in kind.model_fields.items():
        if not info.is_required():
            continue
        given = {key: value for key, value in example_of(kind).items() if key != field}
        with pytest.raises(ValidationError) as error:
            kind.model_validate(given)
        assert faults(error) == {field}


@live
def test_numbers_stop_at_their_bounds(question: Live) -> None:
    """Each bound that the API's document states holds, and one step beyond is refused."""
    kind, checked = question.asks, 0
    for field, schema in kind.model_json_schema()["properties"].items():
        for part in (schema, *schema.get("anyOf", ())):
            step = 1 if part.get("type") == "integer" else 0.5
            for word, beyond in (("minimum", -step), ("maximum", step)):
                if word not in part:
                    continue
                kind.model_validate({**example_of(kind), field: part[word]})
                with pytest.raises(ValidationError) as error:
                    kind.model_validate({**example_of(kind), field: part[word] + beyond})
                assert faults(error) == {field}
                checked += 1
    assert checked or question is ACCURACY


@live
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_numbers_are_numbers(question: Live, value: float) -> None:
    for field, schema in question.asks.model_json_schema()["properties"].items():
        if {part.get("type") for part in (schema, *schema.get("anyOf", ()))} & {"integer", "number"}:
            with pytest.raises(ValidationError) as error:
                question.asks.model_validate({**example_of(question.asks), field: value})
            assert faults(error) == {field}


@live
def test_lists_and_texts_stop_at_their_lengths(question: Live) -> None:
    kind = question.asks
    for field, schema in kind.model_json_schema()["properties"].items():
        for part in (schema, *schema.get("anyOf", ())):
            if "maxItems" in part:
                filled = [example_of(kind).get(field) or [0]][0][:1] * (part["maxItems"] + 1)
            elif "maxLength" in part:
                filled = "x" * (part["maxLength"] + 1)
            else:
                continue
            with pytest.raises(ValidationError) as error:
                kind.model_validate({**example_of(kind), field: filled})
            assert faults(error) == {field}


@pytest.mark.parametrize(
    ("given", "fits"),
    [
        ({"text": "a"}, True),
        ({"text": ""}, True),
        ({"prompt": "id"}, True),
        ({}, False),
        ({"text": "a", "prompt": "id"}, False),
        ({"text": None, "prompt": None}, False),
    ],
)
def test_a_prompt_is_a_text_or_a_stored_one(given: dict[str, Any], fits: bool) -> None:
    if fits:
        assert LabIn.model_validate({"model": "m", **given})
        return
    with pytest.raises(ValidationError, match="send either text or prompt"):
        LabIn.model_validate({"model": "m", **given})


@pytest.mark.parametrize("kind", [PromptIn, GateVectorIn])
@pytest.mark.parametrize("character", ["\n", "\r", "\t", "\x00", "\x7f", "\x85"])
def test_names_stay_on_one_line(kind: type[Schema], character: str) -> None:
    with pytest.raises(ValidationError) as error:
        kind.model_validate({**example_of(kind), "name": f"a{character}b"})
    assert faults(error) == {"name"}
    assert kind.model_validate({**example_of(kind), "name": "größer \U0001f9d9 [b]"})


@pytest.mark.parametrize(
    "gates", ["open", [1.0], [["on"]], {"dtype": "f4", "bdata": ""}, {**encode(np.ones((1, 2))), "more": 1}]
)
def test_gates_that_are_no_table(gates: Any) -> None:
    with pytest.raises(ValidationError) as error:
        GatesIn.model_validate({**GatesIn.example(), "gates": gates})
    assert faults(error) == {"gates"}


@pytest.mark.parametrize("pairs", [[[1]], [[1, 2, 3]], [["a", "b"]], [[1, 2]] * 3])
def test_pairs_are_two_of_two(pairs: Any) -> None:
    with pytest.raises(ValidationError) as error:
        CrossedIn.model_validate({**CrossedIn.example(), "pairs": pairs})
    assert faults(error) == {"pairs"}


@pytest.mark.parametrize(
    ("field", "value"), [("circuit", "vo"), ("weight_processing", "none"), ("layer", -1), ("top", 0)]
)
def test_words_are_those_there_are(field: str, value: Any) -> None:
    kind = messages.TablesIn
    with pytest.raises(ValidationError) as error:
        kind.model_validate({**kind.example(), field: value})
    assert faults(error) == {field}


# -- questions -------------------------------------------------------------------------------------------


@live
def test_a_question_is_asked_and_answered_in_messages(question: Live) -> None:
    assert question.asks.__name__ in SCHEMAS
    assert question.answers.__name__ in SCHEMAS
    assert question.summary[0].isupper()
    assert not question.summary.endswith(".")
    assert question.detail.endswith(".")


def test_questions_are_told_apart() -> None:
    for names in (
        [q.name for q in LIVE],
        [q.path for q in LIVE],
        [q.asks for q in LIVE],
        [q.answers for q in LIVE],
    ):
        assert len(set(names)) == len(LIVE)
    assert [(question.tag, issubclass(question.asks, LabIn)) for question in QUESTIONS] == [
        (question.path.split("/")[1], question.path.startswith("/lab/")) for question in QUESTIONS
    ]
    assert {question.tag for question in QUESTIONS} == {"lab", "circuits"}
    for question in QUESTIONS:
        assert issubclass(question.asks, LabIn if question.tag == "lab" else CircuitIn)


# -- tokens and arrays -----------------------------------------------------------------------------------


@given(st.binary(max_size=8), st.integers(0, 2**31), st.booleans())
def test_a_token_travels_with_its_bytes(content: bytes, index: int, special: bool) -> None:
    out = TokenOut.of(Token(index, 3, 3 + len(content), content, special))
    assert bytes.fromhex(out.hex) == content
    assert (out.text is None) == (content.decode(errors="replace").encode() != content)
    assert out.text is None or out.text.encode() == content
    assert TokenOut.model_validate_json(out.model_dump_json()) == out


def test_nan_survives_in_an_array() -> None:
    look = messages.LookOut.model_validate(messages.LookOut.example())
    assert np.isnan(decode(json.loads(look.model_dump_json())["loss"])).all()


def test_messages_load_no_torch() -> None:
    code = "import sys, headscope.messages.questions; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
