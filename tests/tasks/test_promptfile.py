"""Prompts from files: what was written comes back, and each fault is said with its line."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.errors import Invalid, TooLarge
from headscope.files.table import SEPARATORS
from headscope.messages import MAX_TEXT
from headscope.tasks.promptfile import read_prompts
from headscope.tasks.prompts import MAX_PROMPTS, beginning, content_id, prompt_set

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
TEXTS = st.lists(TEXT, min_size=1, max_size=8)


def texts(filename: str, content: bytes) -> list[str]:
    return list(read_prompts(filename, content).texts)


def as_csv(rows: list[list[str]], mark: str = ",", encoding: str = "utf-8") -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, quoting=csv.QUOTE_ALL, delimiter=mark).writerows(rows)
    return out.getvalue().encode(encoding)


@given(TEXTS, st.sampled_from(["text", "prompt", None]), st.booleans())
def test_json_lines_come_back(prompts: list[str], field: str | None, mark: bool) -> None:
    lines = [json.dumps({field: text, "id": 7} if field else text) for text in prompts]
    assert texts("a.jsonl", b"\xef\xbb\xbf" * mark + "\n\n".join(lines).encode()) == prompts


@given(
    TEXTS,
    st.sampled_from(["text", "Prompt", " TEXT "]),
    st.booleans(),
    st.sampled_from(list(SEPARATORS)),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_a_table_comes_back(prompts: list[str], field: str, more: bool, mark: str, encoding: str) -> None:
    rows = [[field], *([text] for text in prompts)]
    if more:
        rows = [["id", *row] for row in rows]
    assert texts("a.csv", as_csv(rows, mark, encoding)) == prompts


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("input;output\na;b\nc\n", "csv-separator"),
        ("Hello; you\nthe cat\n", "csv-separator"),
        ("input;output\na;b\n", "no-prompt-field"),
        ("a\tb\nc\td\n", "no-prompt-field"),
        ("a,b;c\nd,e;f\n", "csv-separator"),
    ],
)
def test_a_table_is_never_taken_for_prompts(content: str, code: str) -> None:
    with pytest.raises(Invalid) as refused:
        texts("a.csv", content.encode())
    assert (refused.value.code, "`text`" in refused.value.remedy or "first line" in refused.value.remedy) == (
        code, True,
    )  # fmt: skip


def test_separators_in_a_named_or_quoted_column_are_text() -> None:
    assert texts("a.csv", b"text\nHello; you\na|b\n") == ["Hello; you", "a|b"]
    assert texts("a.csv", b'"Hello; you"\nthe cat; there\n') == ["Hello; you", "the cat; there"]


@given(TEXTS.filter(lambda prompts: prompts[0].strip().lower() not in ("text", "prompt")))
def test_a_single_column_needs_no_header(prompts: list[str]) -> None:
    assert texts("a.csv", as_csv([[text] for text in prompts])) == prompts


@given(TEXT.filter(lambda text: not text.endswith("\r")))
def test_a_text_file_is_one_prompt_less_its_last_line_end(text: str) -> None:
    for end in ("\n", "\r\n"):
        assert texts("a.txt", (text + end).encode()) == [text]


@given(st.binary(max_size=200), st.sampled_from([b"", b"text\n", b"text,id\n", b'{"text": "a"}\n']))
def test_any_bytes_give_prompts_or_one_clear_error(content: bytes, start: bytes) -> None:
    for name in ("a.csv", "a.jsonl", "a.txt"):
        try:
            found = texts(name, start + content)
        except Invalid as refusal:
            error = refusal
        else:
            assert found
            assert all(found)
            "".join(found).encode()
            continue
        assert error.message
        assert error.remedy


GOOD = '{"text": "a"}\n'
FAULTS = {
    "empty text": ("a.txt", "", "prompt-empty", None),
    "only a line end": ("a.txt", "\n", "prompt-empty", None),
    "empty lines": ("a.jsonl", "\n\n", "no-prompts", None),
    "empty CSV": ("a.csv", "", "no-prompts", None),
    "header only": ("a.csv", "text\n", "no-prompts", None),
    "not JSON": ("a.jsonl", GOOD + "plain words", "json", 2),
    "a list": ("a.jsonl", '["a", "b"]', "json", None),
    "a number": ("a.jsonl", GOOD + "7", "not-text", 2),
    "a number within": ("a.jsonl", GOOD + '{"text": 7}', "not-text", 2),
    "no field": ("a.jsonl", GOOD + '{"texts": "b"}', "no-prompt-field", 2),
    "both fields": ("a.jsonl", GOOD + '{"text": "b", "prompt": "c"}', "no-prompt-field", 2),
    "an empty prompt": ("a.jsonl", GOOD + "\n" + '{"text": ""}', "prompt-empty", 3),
    "surrogate": ("a.jsonl", GOOD + '"\\ud800"', "not-text", 2),
    "escaped NUL": ("a.jsonl", GOOD + '"a\\u0000"', "not-text", 2),
    "NUL": ("a.txt", "a\nb\0", "nul", 2),
    "columns without a name": ("a.csv", "input,output\na,b\n", "no-prompt-field", 1),
    "column twice": ("a.csv", "text,text\na,b\n", "no-prompt-field", 1),
    "a comma too many": ("a.csv", "the cat\nthe cat, the dog\n", "csv-fields", 2),
    "unbalanced": ("a.csv", 'text\nthe cat\n"the dog\nthe cow\n', "csv", 3),
    "an empty field": ("a.csv", 'text\na\n""\n', "prompt-empty", 3),
    "megabyte in JSON": ("a.jsonl", GOOD + json.dumps("a" * 10**6), "too-long", 2),
    "megabyte in CSV": ("a.csv", "text\na\n" + "a" * 10**6, "too-long", 3),
    "megabyte in text": ("a.txt", "a" * 10**6, "too-long", None),
    "another file": ("a.docx", "a", "file-type", None),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults(fault: str) -> None:
    name, content, code, line = FAULTS[fault]
    with pytest.raises(Invalid) as caught:
        read_prompts(name, content.encode())
    assert caught.value.code == code, caught.value.message
    assert caught.value.remedy
    if line is not None:
        assert re.match(rf"{name}, line {line}\b", caught.value.message), caught.value.message


def test_mixed_encodings_name_the_line() -> None:
    with pytest.raises(Invalid, match=r"a.csv, line 3, column 4: byte 0xE9 is not UTF-8") as caught:
        read_prompts("a.csv", "text\ncafé\n".encode() + "café\n".encode("latin-1"))
    assert caught.value.code == "not-utf-8"


def test_ten_thousand_prompts_and_no_more() -> None:
    assert len(texts("a.jsonl", b'"a"\n' * MAX_PROMPTS)) == MAX_PROMPTS
    with pytest.raises(TooLarge, match=r"a.jsonl, line 10001: the file has more than 10,000 prompts"):
        texts("a.jsonl", b'"a"\n' * (MAX_PROMPTS + 1))
    with pytest.raises(TooLarge, match=r"10,000 bytes, at most 5,000"):
        read_prompts("a.txt", b"x" * 10_000, max_bytes=5_000)
    with pytest.raises(TooLarge, match="10,001"):
        prompt_set(["a"] * (MAX_PROMPTS + 1))


@given(TEXTS, TEXTS)
def test_the_id_is_the_content(one: list[str], other: list[str]) -> None:
    assert (content_id(one) == content_id(other)) == (one == other)
    assert content_id(one) != content_id(["".join(one) + "x"])
    assert len(prompt_set(one, " a name ").id) == 20


def test_names_and_beginnings() -> None:
    assert read_prompts("cats.jsonl", b'"a"').name == "cats"
    assert read_prompts("cats.jsonl", b'"a"', "  dogs ").name == "dogs"
    with pytest.raises(Invalid):
        prompt_set(["a"], "a\0")
    assert beginning(" a\n\nb\t c") == "a b c"
    assert beginning("a" * MAX_TEXT) == "a" * 120 + "…"
