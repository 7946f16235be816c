"""Numbers of agreement: Spearman's rank correlation, Welch's t, precision and recall; by scipy.

For each method but gating:

1. Spearman's rho of its effect with facilitation and with interference, over heads.
2. Welch's t of facilitation (the highest over seeds) of the heads that it finds against the others'.
3. Precision: of the heads that gating finds, the share that it finds. Recall: of the heads that it finds, the
   share that gating finds.

NaN where there are too few heads on one side.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from headscope.analyses.agreement.methods import Seen

NUMBERS: Final = (
    "found", "rho_facilitation", "p_facilitation", "rho_interference", "p_interference", "welch_t", "welch_p",
    "precision", "recall",
)  # fmt: skip
"""Columns of ``statistics``."""


def statistics(
    seen: Mapping[str, Seen],
    facilitation: Float[np.ndarray, "seed layer head"],
    interference: Float[np.ndarray, "seed layer head"],
) -> Float[np.ndarray, "method number"]:
    """A row for each method but gating, in their order; columns are ``NUMBERS``."""
    rows = [_row(seen[name], seen["gating"], facilitation, interference) for name in seen if name != "gating"]
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(NUMBERS))


def correlations(columns: Mapping[str, NDArray[np.float64]]) -> Float[np.ndarray, "column column"]:
    """Spearman's rho of every two columns over the heads that have both; NaN where one doesn't vary."""
    names = list(columns)
    found = np.full((len(names), len(names)), np.nan)
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            found[i, j] = _spearman(columns[first], columns[second])[0]
    return found


def _row(
    method: Seen, gating: Seen, facilitation: NDArray[np.float64], interference: NDArray[np.float64]
) -> list[float]:
    both = float((method.found & gating.found).sum())
    return [
        float(method.found.sum()),
        *_spearman(method.effect, facilitation.mean(axis=0)),
        *_spearman(method.effect, interference.mean(axis=0)),
        *_welch(facilitation.max(axis=0), method.found),
        both / gating.found.sum() if gating.found.any() else np.nan,
        both / method.found.sum() if method.found.any() else np.nan,
    ]


def _spearman(first: NDArray[np.float64], second: NDArray[np.float64]) -> tuple[float, float]:
    from scipy.stats import spearmanr

    known = np.isfinite(first) & np.isfinite(second)
    a, b = first[known], second[known]
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return np.nan, np.nan
    rho, p = spearmanr(a, b)
    return float(rho), float(p)


def _welch(values: NDArray[np.float64], found: NDArray[np.bool_]) -> tuple[float, float]:
    from scipy.stats import ttest_ind_from_stats

    inside, outside = values[found], values[~found]
    if min(len(inside), len(outside)) < 2 or np.ptp(inside) + np.ptp(outside) == 0:
        return np.nan, np.nan
    described = [part for side in (inside, outside) for part in (side.mean(), side.std(ddof=1), len(side))]
    t, p = ttest_ind_from_stats(*described, equal_var=False)
    return float(t), float(p)
