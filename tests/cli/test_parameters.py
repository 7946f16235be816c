"""``--param NAME=VALUE``: JSON where it is JSON, text where it isn't, ids always text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.cli.run import parameters
from headscope.errors import Invalid

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_any_value_can_be_written(values: dict[str, Any]) -> None:
    assert parameters([f"{name}={json.dumps(value)}" for name, value in values.items()]) == values


@given(NAMES, st.text().filter(lambda text: not _is_json(text)))
def test_what_is_no_json_is_text(name: str, text: str) -> None:
    assert parameters([f"{name}={text}"]) == {name: text}


@given(NAMES, st.integers() | st.floats(allow_nan=False), st.booleans())
def test_an_id_stays_as_it_was_typed(name: str, number: float, spaced: bool) -> None:
    typed = json.dumps(number)
    assert parameters([f"{name}{' ' * spaced}={typed}"], {name}) == {name: typed}


@given(st.text(st.characters(exclude_characters="=")))
def test_without_a_sign_it_is_refused(word: str) -> None:
    with pytest.raises(Invalid, match="NAME=VALUE") as error:
        parameters([word])
    assert error.value.code == "bad-parameter"
    assert "--param steps=60" in error.value.remedy


def test_details() -> None:
    assert parameters(["a=b=c", "empty=", " spaced =1"]) == {"a": "b=c", "empty": "", "spaced": 1}
    assert parameters(["n=1", "n=2"]) == {"n": 2}, "the last word counts"
    assert parameters(["tasks=a,b", 'tasks2=["a", "b"]']) == {"tasks": "a,b", "tasks2": ["a", "b"]}
    with pytest.raises(Invalid):
        parameters(["=1"])


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except json.JSONDecodeError:
        return False
    return True
