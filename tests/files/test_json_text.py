"""JSON from people: what Python's parser passes over is refused, with line and column."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.errors import Invalid
from headscope.files.json_text import json_lines, json_value

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=4,
)


@given(
    st.lists(VALUES.filter(lambda value: not isinstance(value, list))), st.sampled_from(["\n", "\r\n", "\r"])
)
def test_lines_come_back(values: list[object], end: str) -> None:
    text = (end + end).join(json.dumps(value, ensure_ascii=False) for value in values)
    assert [(line, value) for line, value in json_lines("a.jsonl", text, "")] == [
        (1 + 2 * number, value) for number, value in enumerate(values)
    ]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "line 2: the field 'c' appears twice."),
        ('{"a": NaN}', "line 2: NaN is no number in JSON."),
        ('{"a": -Infinity}', "line 2: -Infinity is no number in JSON."),
        ('{"a": 1,}', "line 2, column 9: this isn't JSON: "),
        ("prompt: a", "line 2, column 1: this isn't JSON: Expecting value."),
        ("[" * 100_000, "line 2: this isn't JSON that can be read: "),
        ("9" * 10_000, "line 2: this isn't JSON that can be read: "),
    ],
)
def test_faults_have_their_place(line: str, says: str) -> None:
    with pytest.raises(Invalid) as refused:
        list(json_lines("a.jsonl", "{}\n" + line, "`{}`"))
    assert refused.value.message.startswith(f"a.jsonl, {says}")
    assert (refused.value.code, refused.value.remedy) == ("json", "Write the line like `{}`.")


def test_a_whole_file_counts_its_lines() -> None:
    with pytest.raises(Invalid, match=r"a.json, line 3, column 8: this isn't JSON") as refused:
        json_value("a.json", '{\n"a": 1,\n  "b": x}', "Mend it.", "bad-gates")
    assert (refused.value.code, refused.value.remedy) == ("bad-gates", "Mend it.")
