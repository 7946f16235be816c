"""What a piece answers comes back as it was: arrays of every kind bit by bit, and plain JSON values."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from safetensors.numpy import save
from sqlalchemy import func, select

from headscope.errors import NotFound
from headscope.settings import Settings
from headscope.store import artifacts, migrate
from headscope.store.session import Store, open_store
from headscope.store.tables import Artifact

DTYPES = ("b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")
OLD_NAMES = ("limits", "readers", "writers", "about", "names", "words")
"""Names that pieces gave to words when they could hold nothing but arrays."""

NAMES = st.text(st.characters(codec="utf-8"), max_size=8)
ARRAYS = st.sampled_from(DTYPES).flatmap(
    lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
TEXTS = st.text(st.characters(codec="utf-8"))
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
PIECES = st.dictionaries(NAMES.filter(lambda name: name not in OLD_NAMES), ARRAYS | JSON, max_size=5)


@pytest.fixture(scope="module")
def kept_here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """One database for all examples."""
    here = Settings(data_dir=tmp_path_factory.mktemp("pieces"))
    migrate.upgrade(here)
    store = open_store(here)
    yield store
    store.close()


def through(store: Store, piece: dict[str, Any]) -> dict[str, Any]:
    """The piece as another transaction finds it."""
    with store.session() as session:
        name = artifacts.put_piece(session, piece)
    with store.session() as session:
        return artifacts.get_piece(session, name)


@given(PIECES)
@settings(max_examples=50, deadline=None)
@example({"loss": np.array(0.25), "n": np.array(3)})
@example({"big-endian": np.arange(3, dtype=">f4"), "strided": np.arange(9)[::-2], "empty": np.zeros((0, 2))})
@example({"": {"": None}, "\x00": [1, "\ud7ff"], "values": np.array([True])})
def test_a_piece_comes_back_as_it_was(kept_here: Store, piece: dict[str, Any]) -> None:
    found = through(kept_here, piece)
    assert set(found) == set(piece)
    for name, value in piece.items():
        if isinstance(value, np.ndarray):
            assert (found[name].shape, found[name].dtype) == (value.shape, value.dtype.newbyteorder("="))
            assert found[name].tobytes() == value.astype(value.dtype.newbyteorder("=")).tobytes()
        else:
            assert json.dumps(found[name], sort_keys=True) == json.dumps(value, sort_keys=True)


def test_keeping_a_piece_leaves_the_callers_arrays_alone(kept_here: Store) -> None:
    mine = np.arange(3, dtype=">i4")
    through(kept_here, {"mine": mine})
    np.testing.assert_array_equal(mine, [0, 1, 2])


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), object(), {1, 2}, np.float64(1.0) * np.nan, b"bytes"]
)
def test_a_value_that_json_lacks_is_refused_at_once(kept_here: Store, value: object) -> None:
    with kept_here.session() as session, pytest.raises((ValueError, TypeError)):
        artifacts.put_piece(session, {"value": value})


def test_the_same_piece_has_the_same_name_in_any_order(store: Store) -> None:
    one, two = {"a": np.zeros(2), "b": 1, "c": "x"}, {"c": "x", "b": 1, "a": np.zeros(2)}
    with store.session() as session:
        names = {artifacts.put_piece(session, piece) for piece in (one, two)}
        assert len(names) == 1
        assert session.scalar(select(func.count()).select_from(Artifact)) == 1
        assert artifacts.put_piece(session, {**one, "b": 2}) not in names


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("limits", "One.\nTwo, größer.", ["One.", "Two, größer."]),
        ("readers", "0.1 q\n1.2 k", ["0.1 q", "1.2 k"]),
        ("writers", "", []),
        ("limits", '["kept as lines"]', ['["kept as lines"]']),
        ("about", '{"name": "plural"}', {"name": "plural"}),
        ("names", '[[3, null, "ff"]]', [[3, None, "ff"]]),
        ("names", "is\nare", ["is", "are"]),
        ("words", '{"prompt": []}', {"prompt": []}),
    ],
)
def test_words_of_an_old_piece(store: Store, name: str, content: str, says: Any) -> None:
    old = save({name: np.frombuffer(content.encode(), np.uint8), "g": np.zeros(2, np.float32)})
    with store.session() as session:
        kept = artifacts.put(session, "arrays", old)
        found = artifacts.get_piece(session, kept)
    assert found[name] == says
    assert found["g"].dtype == np.float32


def test_only_flat_bytes_under_an_old_name_are_words(store: Store) -> None:
    """A table of bytes, or bytes beside JSON values, are numbers whatever they are called."""
    table, flat = np.frombuffer(b"abcd", np.uint8).reshape(2, 2), np.frombuffer(b"ab", np.uint8)
    np.testing.assert_array_equal(through(store, {"names": table})["names"], table)
    np.testing.assert_array_equal(through(store, {"limits": flat.astype("i4")})["limits"], flat)
    np.testing.assert_array_equal(through(store, {"names": flat, "n": 1})["names"], flat)


def test_bytes_are_kept_once_compressed_and_named_by_what_they_are(store: Store) -> None:
    content = b"the same again and again " * 400
    with store.session() as session:
        name = artifacts.put(session, "json", content)
        assert artifacts.put(session, "other", content) == name
        assert len(name) == 64
        row = session.get_one(Artifact, name)
        assert row.kind == "json"
        assert len(row.content) < len(content) / 10
        assert zlib.decompress(row.content) == artifacts.get(session, name) == content


def test_json_is_canonical_and_has_no_nan(store: Store) -> None:
    with store.session() as session:
        name = artifacts.put_json(session, {"b": [1, None], "a": "ä\u2028"})
        assert artifacts.put_json(session, {"a": "ä\u2028", "b": [1, None]}) == name
        assert artifacts.get_json(session, name) == {"a": "ä\u2028", "b": [1, None]}
        with pytest.raises(ValueError, match="not JSON compliant"):
            artifacts.put_json(session, [float("nan")])


def test_what_is_not_there_is_named_shortly(store: Store) -> None:
    with store.session() as session, pytest.raises(NotFound, match=r"artifact 0{12}\.") as error:
        artifacts.get(session, "0" * 64)
    assert (error.value.code, error.value.remedy) == ("unknown-artifact", "Run it again.")
