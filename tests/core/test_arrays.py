from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from headscope.core.arrays import decode, encode, is_typed
from headscope.errors import Invalid

GOOD = {"dtype": "f4", "shape": "2, 3", "bdata": encode(np.zeros((2, 3), np.float32))["bdata"]}


@settings(deadline=None)
@given(
    st.sampled_from(["i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"]).flatmap(
        lambda code: arrays.arrays(
            np.dtype(code), arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
        )
    )
)
def test_what_goes_in_comes_out_bit_for_bit(array: NDArray[Any]) -> None:
    back = decode(json.loads(json.dumps(encode(array), allow_nan=False)))
    assert back.dtype == array.dtype
    assert back.shape == array.shape
    assert back.tobytes() == array.tobytes()


def test_nan_and_infinities_survive() -> None:
    back = decode(encode(np.array([[np.nan, np.inf, -np.inf, -0.0]], np.float32)))
    np.testing.assert_array_equal(back, [[np.nan, np.inf, -np.inf, 0.0]])
    assert np.signbit(back[0, 3])


def test_bytes_are_little_endian_whatever_the_array() -> None:
    little, big = np.array([1, 2], "<f4"), np.array([1, 2], ">f4")
    assert encode(little) == encode(big)
    assert encode(little)["bdata"] == "AACAPwAAAEA="
    assert encode(np.array([[1, 2], [3, 4]], np.uint8).T) == {
        "dtype": "u1",
        "shape": "2, 2",
        "bdata": "AQMCBA==",
    }


@pytest.mark.parametrize(
    ("array", "code"),
    [
        (np.array([True, False]), "u1"),
        (np.array([0.5], np.float16), "f4"),
        (np.array([-1, 2], np.int64), "i4"),
        (np.array([2**32 - 1], np.int64), "u4"),
        (np.array([], np.int64), "i4"),
    ],
)
def test_what_plotly_lacks_is_widened_or_narrowed_without_loss(array: NDArray[Any], code: str) -> None:
    sent = encode(array)
    assert sent["dtype"] == code
    np.testing.assert_array_equal(decode(sent), array)


@pytest.mark.parametrize(
    "array", [np.array([2**40]), np.array([-1, 2**32 - 1]), np.array(["a"]), np.array([1j])]
)
def test_what_cannot_travel_is_refused(array: NDArray[Any]) -> None:
    with pytest.raises(Invalid):
        encode(array)


def test_one_dimension_may_come_without_a_shape() -> None:
    sent = encode(np.arange(3, dtype=np.float64))
    del sent["shape"]
    assert decode(sent).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "change",
    [
        {"dtype": "f2"},
        {"dtype": "O"},
        {"dtype": "float32"},
        {"shape": "2, 4"},
        {"shape": "-2, -3"},
        {"shape": "2 3"},
        {"shape": "2, x"},
        {"shape": "99999999999, 1"},
        {"shape": ", ".join(["1"] * 40)},
        {"bdata": "not base64!"},
        {"bdata": "AAA"},
        {"bdata": "é"},
        {"bdata": ""},
        {"extra": "1"},
        {"shape": 6},
    ],
)
def test_a_malformed_array_is_refused_with_the_form_to_send(change: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as error:
        decode({**GOOD, **change})
    assert error.value.code == "malformed-array"
    assert "bdata" in error.value.remedy


@pytest.mark.parametrize("value", [[1, 2], None, "f4", {}, {"dtype": "f4"}])
def test_what_is_no_typed_array_is_refused(value: Any) -> None:
    assert not is_typed(value)
    with pytest.raises(Invalid):
        decode(value)
