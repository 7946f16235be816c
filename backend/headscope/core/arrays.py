"""ndarray <-> plotly's typed arrays ``{"dtype": "f4", "shape": "5, 30, 9", "bdata": base64}``, little-endian; NaN survives."""

from __future__ import annotations

from typing import Any

import numpy as np

TypedArray = dict[str, str]


def encode(array: np.ndarray[Any, Any]) -> TypedArray: ...


def decode(value: TypedArray) -> np.ndarray[Any, Any]: ...
