from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.errors import Invalid, TooLarge
from headscope.tasks.rowfile import MAX_CHARACTERS, MAX_ROWS, read_rows, to_csv, to_jsonl
from headscope.tasks.task import Row

FIELD = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).filter(
    str.strip
)
ROW = st.tuples(FIELD, FIELD, st.none() | FIELD).filter(lambda v: v[1] != v[2]).map(lambda v: Row(*v))
ROWS = st.lists(ROW, min_size=1, max_size=8)


def read(name: str, content: bytes) -> list[Row]:
    return [each.row for each in read_rows(name, content)]


def placed(name: str, content: bytes) -> list[tuple[int | None, Row]]:
    return [(each.place.line, each.row) for each in read_rows(name, content)]


@given(ROWS, st.booleans())
def test_jsonl_round_trip(rows: list[Row], mark: bool) -> None:
    content = b"\xef\xbb\xbf" * mark + to_jsonl(rows)
    assert read("a.jsonl", content) == rows


@given(ROWS, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
def test_csv_round_trip(rows: list[Row], encoding: str) -> None:
    content = to_csv(rows).decode().encode(encoding)
    assert read("A.CSV", content) == rows


@pytest.mark.parametrize("mark", list(";\t|"))
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_table_may_have_any_separator_and_line_end(mark: str, end: str) -> None:
    text = 'target,prompt,counterfactual\n"b, c", "a","d"\ne,f,\n'
    source = text.replace('"b, c"', "@").replace(",", mark).replace("@", '"b, c"').replace("\n", end)
    assert placed("a.csv", source.encode("utf-16-le")) == [
        (2, Row("a", "b, c", "d")),
        (3, Row("f", "e")),
    ]


@given(
    st.binary(max_size=200), st.sampled_from([b"", b"prompt,target\n", b'{"prompt": "a", "target": "b"}\n'])
)
def test_any_bytes_give_rows_or_one_clear_error(content: bytes, start: bytes) -> None:
    for name in ("a.csv", "a.jsonl"):
        try:
            assert read_rows(name, start + content)
        except Invalid as refusal:
            error = refusal
        else:
            continue
        assert error.message
        assert error.remedy


def test_lines_are_counted_over_blank_ones_and_quoted_line_ends() -> None:
    source = b'prompt,target\r\n\r\n"a\nb",c\r\nd,e\r\n'
    assert placed("a.csv", source) == [(3, Row("a\nb", "c")), (5, Row("d", "e"))]
    source = b'\n{"prompt": "a", "target": "b"}\r\n\n{"prompt": "c", "target": "d"}'
    assert placed("a.jsonl", source) == [(2, Row("a", "b")), (4, Row("c", "d"))]


def test_csv_header_may_be_in_another_order_or_case() -> None:
    assert placed("a.csv", b"Counterfactual, Target,prompt\n,b,a\nz,b,c\n") == [
        (2, Row("a", "b")),
        (3, Row("c", "b", "z")),
    ]


GOOD = '{"prompt": "a", "target": "b"}\n'

JSONL_FAULTS = {
    "empty file": ("", "no-rows", None),
    "only blank lines": ("\n\n", "no-rows", None),
    "not JSON": (GOOD + "prompt: a", "json", 2),
    "cut off": (GOOD + '{"prompt": "a", "tar', "json", 2),
    "a list": ('[{"prompt": "a", "target": "b"}]', "json", None),
    "not an object": (GOOD + '"a"', "json", 2),
    "very deep": (GOOD + '{"prompt": ' + "[" * 100_000, "json", 2),
    "field twice": ('{"prompt": "a", "target": "b", "target": "c"}', "json", 1),
    "unknown field": ('{"prompt": "a", "target": "b", "counterfactuals": "c"}', "unknown-field", 1),
    "no target": (GOOD + '{"prompt": "a"}', "no-target", 2),
    "null target": ('{"prompt": "a", "target": null}', "no-target", 1),
    "blank target": ('{"prompt": "a", "target": " \\t"}', "no-target", 1),
    "no prompt": ('{"target": "a"}', "no-prompt", 1),
    "empty counterfactual": ('{"prompt": "a", "target": "b", "counterfactual": ""}', "no-counterfactual", 1),
    "number": ('{"prompt": "1+1", "target": 2}', "not-text", 1),
    "surrogate": ('{"prompt": "a", "target": "\\ud800"}', "not-text", 1),
    "escaped NUL": ('{"prompt": "a\\u0000", "target": "b"}', "not-text", 1),
    "same answer": ('{"prompt": "a", "target": "b", "counterfactual": "b"}', "counterfactual", 1),
    "NUL": (GOOD + '{"prompt": "a\0", "target": "b"}', "nul", 2),
    "long": (json.dumps({"prompt": "a" * (MAX_CHARACTERS + 1), "target": "b"}), "too-long", 1),
}

CSV_FAULTS = {
    "empty file": ("", "csv-header", 1),
    "header only": ("prompt,target\n", "no-rows", None),
    "no header": ("cat,cats\n", "csv-header", 1),
    "wrong header": ("input,output\ncat,cats\n", "csv-header", 1),
    "column missing": ("prompt\ncat\n", "csv-header", 1),
    "column too many": ("prompt,target,id\ncat,cats,1\n", "csv-header", 1),
    "column twice": ("prompt,target,target\ncat,cats,cats\n", "csv-header", 1),
    "too few fields": ("prompt,target\na,b\ncat\n", "csv-fields", 3),
    "too many fields": ("prompt,target\na,b\ncat,cats,dogs\n", "csv-fields", 3),
    "quote never closed": ('prompt,target\na,b\n"cat,cats\nc,d\n', "csv", 3),
    "text after a quote": ('prompt,target\na,b\n"cat"s,cats\n', "csv", 3),
    "no target": ("prompt,target\na,b\n\ncat,\n", "no-target", 4),
    "huge field": ("prompt,target\na," + "b" * 200_000 + "\n", "too-long", 2),
    "NUL": ("prompt,target\na,b\0\n", "nul", 2),
}


@pytest.mark.parametrize("fault", JSONL_FAULTS)
def test_jsonl_faults(fault: str) -> None:
    content, code, line = JSONL_FAULTS[fault]
    _refused("rows.jsonl", content.encode(), code, line)


@pytest.mark.parametrize("fault", CSV_FAULTS)
def test_csv_faults(fault: str) -> None:
    content, code, line = CSV_FAULTS[fault]
    _refused("rows.csv", content.encode(), code, line)


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_not_utf8(mark: bytes) -> None:
    _refused("rows.csv", mark + "prompt,target\ncafé,x\n".encode("latin-1"), "not-utf-8", 2)


@pytest.mark.parametrize("name", ["rows.xlsx", "rows", "", "rows.csv.gz"])
def test_other_files(name: str) -> None:
    _refused(name, GOOD.encode(), "file-type", None)


def test_too_large() -> None:
    with pytest.raises(TooLarge, match=r"10,000 bytes, at most 5,000"):
        read_rows("rows.csv", b"x" * 10_000, max_bytes=5_000)
    with pytest.raises(TooLarge, match="more than 50,000 rows"):
        read_rows("rows.jsonl", GOOD.encode() * (MAX_ROWS + 1))


def _refused(name: str, content: bytes, code: str, line: int | None) -> None:
    with pytest.raises(Invalid) as caught:
        read_rows(name, content)
    assert caught.value.code == code, caught.value.message
    assert caught.value.remedy
    if line is not None:
        assert re.match(rf"{re.escape(name)}, line {line}\b", caught.value.message), caught.value.message
