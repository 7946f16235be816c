"""Lists of heads: every way to write one is read, what is none is named."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headscope.core.model.head_list import as_csv, as_json, as_text, check_heads, read_heads
from headscope.errors import Invalid
from micro.model import random_model

HEADS = ((0, 3), (1, 5), (1, 10))

lists = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), min_size=1, unique=True).map(sorted)


@pytest.mark.parametrize(
    "text",
    [
        "0.3, 1.5, 1.10",
        "1.10;0.3\n1.5 1.5",
        "L0H3 l1h5, a1.h10",
        "0:3,1:5,1:10",
        "# three heads\n0.3\n1.5\n1.10\n",
        '["0.3", "L1H5", [1, 10]]',
        '{"model": "m", "heads": [{"layer": 0, "head": 3}, [1, 5], "1.10"]}',
        "layer,head\n0,3\n1,5\n1,10\n",
        '\ufeff"head";"gate";"layer"\n3;0.9;0\n5;0.8;1\n\n10;0.7;1',
        "Layer\tHead\n0\t3\n1\t5\n1\t10",
        "layer|head\r0|3\r1|5\r\r1|10\r",
        'name, layer, head\r\n# best\r\n"a, b", 0, 3\r\nc, 1, 5\r\nd, 1, "10"\r\n',
    ],
)
def test_all_ways_to_write_it_are_one_list(text: str) -> None:
    assert read_heads(text) == HEADS


@given(lists)
def test_what_is_written_is_read_again(heads: list[tuple[int, int]]) -> None:
    for text in (as_text(heads), as_csv(heads), as_json(heads, {"model": "m"})):
        assert list(read_heads(text)) == heads


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("0.3, 1-5", 'Line 1, column 6: "1-5"'),
        ("# two\n0.3\n x", 'Line 3, column 2: "x"'),
        ("٣.3", 'Line 1, column 1: "٣.3"'),
        ("[0.3]", '"0.3"'),
        ("[[0, 3], [1]]", '"[1]"'),
        ("[[true, 3]]", '"[true, 3]"'),
        ('[{"layer": 1}]', '"{"layer": 1}"'),
        ("[[0, -3]]", '"[0, -3]"'),
        ("layer,head\n0,x", 'Line 2: "["0", "x"]"'),
        ("layer|head\r0|3\r\r1|", 'Line 4: "["1", ""]"'),
        ("0.3 " + "9" * 60, f'Line 1, column 5: "{"9" * 40}…"'),
    ],
)
def test_the_first_bad_entry_is_named(text: str, entry: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_heads(text)
    assert refused.value.code == "bad-head"
    assert refused.value.message == f"{entry} is no head."


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "no-heads"), ("# nothing\n", "no-heads"), ("[]", "no-heads"), ("layer,head\n", "no-heads"),
        ("[0.3", "bad-head"), ('{"head": 1}', "bad-head"), ("0.3 " * 30_000, "bad-head"),
        ("[" * 50_000, "bad-head"), ('{"heads": [[0, 3]], "heads": [[1, 5]]}', "bad-head"),
        ("layer,head\n0,3\n1", "csv-fields"), ("layer,head\n0,3\n0,3", "bad-head"),
    ],
)  # fmt: skip
def test_what_holds_no_heads_is_refused(text: str, code: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_heads(text)
    assert refused.value.code == code


def test_a_head_that_a_table_has_twice_is_named_with_both_lines() -> None:
    with pytest.raises(Invalid, match=r"Line 4: the head 0\.3 stands on line 2 already"):
        read_heads("layer;head;gate\n0;3;0,5\n1;5;1\n 0; 3;0,7\n")


@given(st.text(max_size=60))
def test_whatever_is_pasted_is_read_or_refused(text: str) -> None:
    try:
        heads = read_heads(text)
    except Invalid:
        return
    assert json.loads(as_json(heads, {}))["heads"]


def test_heads_that_a_model_lacks_are_named() -> None:
    model = random_model().info
    check_heads([(model.n_layers - 1, model.n_heads - 1)], model)
    wrong = [(model.n_layers, 0), (0, model.n_heads)]
    with pytest.raises(
        Invalid, match=rf"no head {model.n_layers}\.0, 0\.{model.n_heads}\. Its layers"
    ) as refused:
        check_heads([(0, 0), *wrong], model)
    assert refused.value.code == "unknown-head"
    with pytest.raises(Invalid, match="and 3 more of the list"):
        check_heads([(99, head) for head in range(8)], model)


def test_a_file_says_what_it_is_of() -> None:
    assert as_text(HEADS) == "0.3, 1.5, 1.10"
    assert as_csv(HEADS) == "layer,head\n0,3\n1,5\n1,10\n"
    assert json.loads(as_json(HEADS, {"model": "m"})) == {"model": "m", "heads": [[0, 3], [1, 5], [1, 10]]}
