"""Tables out of columns, and statistics over seeds: what figures and their table twins are made of."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headscope.core.model.info import ModelInfo
from headscope.figures.view import Mode

Array = NDArray[Any]

Table = dict[str, Any]
"""``{"columns": [{"name", "title", "unit"}], "rows": [[...]]}``; a cell without a finite number is None."""

Column = tuple[str, str, str, Array]
"""Name, title, unit ("" where it has none), values."""


def table(columns: Sequence[Column]) -> Table:
    """Columns of equal length, as they travel."""
    heads = [{"name": name, "title": title, "unit": unit} for name, title, unit, _ in columns]
    return {
        "columns": heads,
        "rows": [list(map(_plain, row)) for row in zip(*(c[3] for c in columns), strict=True)],
    }


def places(info: ModelInfo) -> list[Column]:
    """Where each head is: its layer, its number in it, and whose keys and values it shares."""
    layer, head = np.divmod(np.arange(info.n_layers * info.n_heads), info.n_heads)
    group = head // (info.n_heads // info.n_kv_heads)
    return [
        ("layer", "layer", "", layer),
        ("head", "head", "", head),
        ("kv_group", "key/value group", "", group),
    ]


def flat(values: Any) -> Array:
    """One column of what has more axes, e.g. [layer, head]."""
    return np.asarray(values).reshape(-1)


def over_seeds(values: Array, mode: Mode) -> Array:
    """[seed, ...] -> [...]: the mean; for ``always`` the lowest, for ``any`` the highest."""
    reducers: dict[Mode, Callable[..., Any]] = {"every": np.nanmean, "always": np.nanmin, "any": np.nanmax}
    return np.asarray(quietly(reducers[mode], values, axis=0))


def spread(values: Array) -> Array:
    """Standard deviation over seeds with n - 1; NaN below two finished seeds."""
    return np.asarray(quietly(np.nanstd, values, axis=0, ddof=1))


def quietly(reduce: Callable[..., Any], values: Array, **how: Any) -> Any:
    """A reduction over what may be empty or all NaN: the answer is NaN, without numpy's warning about it."""
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        return reduce(values, **how)


def _plain(value: Any) -> Any:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float):
        # float32 shown with float64's digits would pretend to know more than it does
        return float(f"{plain:.7g}") if math.isfinite(plain) else None
    return plain
