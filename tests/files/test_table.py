"""Tables from people: what anybody's program writes is read as it was meant, or refused with its place."""

from __future__ import annotations

import csv
import io
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.errors import Invalid
from headscope.files.table import SEPARATORS, read_table

HEADERS = [("prompt", "target")]
CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
ROWS = st.integers(2, 4).flatmap(
    lambda wide: st.lists(st.lists(CELL, min_size=wide, max_size=wide), min_size=1, max_size=6)
)


def written(rows: list[list[str]], mark: str, end: str, quoting: int) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=mark, lineterminator=end, quoting=quoting).writerows(rows)  # type: ignore[arg-type]
    return out.getvalue()


def read(text: str) -> list[list[str]]:
    table = read_table("a.csv", text, HEADERS)
    return [] if table is None else [list(table.header.fields), *(list(row.fields) for row in table.rows())]


@given(ROWS, st.sampled_from(list(SEPARATORS)), st.sampled_from(["\r\n", "\n", "\r"]), st.booleans())
def test_what_the_csv_module_writes_comes_back(
    rows: list[list[str]], mark: str, end: str, whole: bool
) -> None:
    # It quotes a line's end in a cell only where lines end so.
    quoting = csv.QUOTE_ALL if whole or end != "\r\n" else csv.QUOTE_MINIMAL
    # With a named header the separator is told whatever the cells hold.
    table = [["prompt", "target", *"cd"][: len(rows[0])], *rows]
    assert read(written(table, mark, end, quoting)) == table


@pytest.mark.parametrize(("mark", "other"), list(itertools.permutations(SEPARATORS, 2)))
def test_the_header_tells_the_separator_and_others_are_text(mark: str, other: str) -> None:
    text = f"target{mark}prompt\na{other}b{mark}c{other}d{other}\n"
    assert read(text)[1] == [f"a{other}b", f"c{other}d{other}"]


@pytest.mark.parametrize("mark", SEPARATORS)
def test_without_known_names_the_one_that_cuts_evenly(mark: str) -> None:
    table = read_table("a.csv", f'id{mark}words\n1{mark}"a, b; c"\n2{mark}d\n', HEADERS)
    assert table
    assert (table.separator, table.names) == (mark, ["id", "words"])


def test_where_several_cut_evenly_it_is_refused() -> None:
    with pytest.raises(Invalid, match=r"a.csv, line 2: commas and semicolons cut") as refused:
        read("\na,b;c\nd,e;f\n")
    assert refused.value.code == "csv-separator"


def test_excel_names_it_in_a_line_of_its_own() -> None:
    table = read_table("a.csv", "sep=|\r\na,b|c\r\nd,e|f\r\n", HEADERS)
    assert table
    assert [(row.line, row.fields) for row in table.rows()] == [(3, ("d,e", "f"))]


@pytest.mark.parametrize("mark", SEPARATORS)
def test_quotes_may_stand_after_a_space_and_before_one(mark: str) -> None:
    text = f'prompt{mark} "target" \n a b{mark}  "x{mark} ""y"""  \n'
    assert read(text) == [["prompt", "target"], [" a b", f'x{mark} "y"']]


def test_quotes_within_a_bare_field_are_text() -> None:
    assert read('prompt,target\n5" disk,a "b" c\n')[1] == ['5" disk', 'a "b" c']


def test_lines_are_counted_over_blank_ones_quoted_ends_and_all_kinds_of_ends() -> None:
    table = read_table("a.csv", 'prompt,target\r\r\n\n"a\r\nb\rc",d\r  \re,f', HEADERS)
    assert table
    assert [(row.line, row.fields) for row in table.rows()] == [(4, ("a\r\nb\rc", "d")), (8, ("e", "f"))]


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("prompt,target\nc\n", "csv-fields", "line 2, column 2 (target): 1 column, the first line has 2."),
        ("prompt;target\na;b;c\n", "csv-fields", "line 2, column 3: 3 columns, the first line has 2."),
        ('prompt,target\na,"b\nc,d\n', "csv", "line 2, column 3: a double quote is opened and never closed."),
        ('prompt,target\n"a"b,c\n', "csv", "line 2, column 4: 'b' stands after a closing double quote."),
        ('prompt,target\n"a\n\nb"c,d', "csv", "line 4, column 3: 'c' stands after a closing double quote."),
    ],
)  # fmt: skip
def test_faults_name_line_and_column(text: str, code: str, message: str) -> None:
    with pytest.raises(Invalid) as refused:
        read(text)
    assert (refused.value.code, refused.value.message) == (code, f"a.csv, {message}")
    assert refused.value.remedy


def test_there_may_be_nothing() -> None:
    assert read("") == read("\n\r\n") == []


@given(st.text(st.sampled_from('a" ,;\t|\r\n'), max_size=30))
def test_whatever_it_is_it_is_read_or_refused(text: str) -> None:
    try:
        rows = read(text)
    except Invalid as refusal:
        said = refusal.message
    else:
        assert len({len(row) for row in rows}) <= 1
        return
    assert said.startswith("a.csv, line ")
