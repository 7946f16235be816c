"""ndarray <-> plotly's typed arrays ``{"dtype": "f4", "shape": "5, 30, 9", "bdata": base64}``, little-endian.

Lists of numbers can't carry NaN or infinity through JSON, and cost four times the bytes. Plotly reads this
form as it is.
"""

from __future__ import annotations

import base64
import binascii
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.errors import Invalid

TypedArray = dict[str, str]

DTYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8")
"""What plotly.js knows. It has no 64-bit integers, no half floats, no booleans."""

_WIDENED = {"b1": "u1", "f2": "f4"}
_MAX_ELEMENTS = 2**31


def encode(array: NDArray[Any]) -> TypedArray:
    """Values survive, NaN and infinities too; booleans become u1, half floats f4, 64-bit integers i4 or u4.

    Raises ``Invalid`` for a 64-bit integer beyond 32 bits and for a dtype that isn't numeric.
    """
    code = _code(array)
    little = np.ascontiguousarray(array.astype(np.dtype("<" + code), copy=False))
    shape = ", ".join(str(n) for n in array.shape)
    return {"dtype": code, "shape": shape, "bdata": base64.b64encode(little.tobytes()).decode("ascii")}


def decode(value: object) -> NDArray[Any]:
    """A writable array in native byte order. ``shape`` may be missing: plotly leaves it out in one dimension.

    Raises ``Invalid`` where anything doesn't fit: keys, dtype, shape, base64, or the number of bytes.
    """
    if not isinstance(value, dict) or not {"dtype", "bdata"} <= set(value) <= {"dtype", "shape", "bdata"}:
        raise _malformed("it must be an object with dtype, shape and bdata")
    if not all(isinstance(part, str) for part in value.values()):
        raise _malformed("dtype, shape and bdata must be strings")
    if value["dtype"] not in DTYPES:
        raise _malformed(f"dtype {value['dtype']!r} is not one of {', '.join(DTYPES)}")
    dtype = np.dtype("<" + value["dtype"])
    try:
        content = base64.b64decode(value["bdata"].encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error) as error:
        raise _malformed("bdata is not base64") from error
    shape = _shape(value.get("shape", str(len(content) // dtype.itemsize)))
    needed = math.prod(shape) * dtype.itemsize
    if needed != len(content):
        raise _malformed(f"shape {shape} of {value['dtype']} needs {needed} bytes, got {len(content)}")
    return np.frombuffer(content, dtype=dtype).reshape(shape).astype(dtype.newbyteorder("="))


def is_typed(value: object) -> bool:
    """Whether a JSON value looks like a typed array (it may still be malformed)."""
    return isinstance(value, dict) and {"dtype", "bdata"} <= set(value)


def _code(array: NDArray[Any]) -> str:
    code = f"{array.dtype.kind}{array.dtype.itemsize}"
    code = _WIDENED.get(code, code)
    if code in ("i8", "u8"):
        low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
        if low >= -(2**31) and high < 2**31:
            return "i4"
        if low >= 0 and high < 2**32:
            return "u4"
        raise Invalid(
            "64-bit integers beyond 32 bits can't travel as a typed array.", "Convert them to float64 first."
        )
    if code not in DTYPES:
        raise Invalid(f"An array of {array.dtype} can't travel.", f"Use one of {', '.join(DTYPES)}.")
    return code


def _shape(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")] if text.strip() else []
    if not all(part.isascii() and part.isdigit() and len(part) <= 10 for part in parts):
        raise _malformed(f"shape {text[:60]!r} is not a list of sizes")
    shape = tuple(int(part) for part in parts)
    if len(shape) > 32 or math.prod(shape) > _MAX_ELEMENTS:
        raise _malformed(f"shape {text[:60]!r} is too large")
    return shape


def _malformed(reason: str) -> Invalid:
    return Invalid(
        f"The typed array can't be read: {reason}.",
        'Send {"dtype": "f4", "shape": "2, 3", "bdata": "<base64, little-endian>"}.',
        code="malformed-array",
    )
