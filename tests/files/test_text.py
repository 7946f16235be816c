"""Bytes as text: every encoding that shows itself, and where it doesn't the place of the fault."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from headscope.errors import Invalid, TooLarge
from headscope.files.place import Place
from headscope.files.text import check_size, decoded

TABLE = "prompt,target\nLe café,la crème\n犬,いぬ\n"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"]
)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_table_is_the_same_in_every_encoding(encoding: str, end: str) -> None:
    text = TABLE.replace("\n", end)
    mark = b"\x00\x00\xfe\xff" if encoding == "utf-32-be" else b""
    assert decoded("a.csv", mark + text.encode(encoding)) == text


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), max_size=40))
def test_text_comes_back_from_utf8_and_from_what_has_a_mark(text: str) -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
        assert decoded("a", text.encode(encoding)) == text


@given(st.text(st.characters(codec="ascii", categories=["L", "N", "P", "Zs"]), min_size=1, max_size=40))
def test_utf16_without_a_mark_shows_itself_by_its_zeros(text: str) -> None:
    for encoding in ("utf-16-le", "utf-16-be"):
        assert decoded("a", text.encode(encoding)) == text


@given(st.text(max_size=20), st.integers(0, 20))
def test_a_nul_in_text_is_a_nul(text: str, at: int) -> None:
    """A single zero is no evidence of UTF-16: the words around it would become others."""
    spelled = "some words, " + text.replace("\0", "")
    assume("\ufffd" not in spelled)
    content = (spelled[:at] + "\0" + spelled[at:]).encode(errors="ignore")
    with pytest.raises(Invalid) as refused:
        decoded("a", content)
    assert refused.value.code == "nul"


@pytest.mark.parametrize(
    ("content", "code", "message"),
    [
        (
            "a\r\nb\rcaf\xe9".encode("latin-1"),
            "not-utf-8",
            "a.csv, line 3, column 4: byte 0xE9 is not UTF-8.",
        ),
        (b"\xef\xbb\xbfab\xff", "not-utf-8", "a.csv, line 1, column 3: byte 0xFF is not UTF-8."),
        (b"\xff\xfea\0b", "not-utf-8", "a.csv, line 1, column 2: byte 0x62 is not UTF-16."),
        (b"ab\ncd\0ef", "nul", "a.csv, line 2, column 3: there is a NUL character."),
    ],
)
def test_what_is_no_text_is_named_with_its_place(content: bytes, code: str, message: str) -> None:
    with pytest.raises(Invalid) as refused:
        decoded("a.csv", content)
    assert (refused.value.code, refused.value.message) == (code, message)


def test_a_file_that_is_too_large_says_what_each_reader_can_do() -> None:
    with pytest.raises(TooLarge, match=r"a.csv has 5 bytes, at most 4 are taken") as refused:
        check_size("a.csv", b"12345", 4)
    assert "HEADSCOPE_MAX_UPLOAD_BYTES" in refused.value.remedy_for("command")
    assert "HEADSCOPE_MAX_UPLOAD_BYTES" not in refused.value.remedy_for("page")


def test_a_place_is_said_in_full() -> None:
    assert str(Place("a.csv", 3, 2, "target")) == "a.csv, line 3, column 2 (target)"
    assert str(Place("", 3, 2)) == "Line 3, column 2"
    assert str(Place("", None)) == ""
    assert str(Place("a\nb" + "c" * 100, 1)) == "a b" + "c" * 76 + "…, line 1"
