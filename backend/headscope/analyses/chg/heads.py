"""The heads that a gating run calls needed, as a list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from headscope.analyses.chg.result import ChgResult
from headscope.core.model.head_list import Head
from headscope.figures.view import Mode, View

SHARES: dict[Mode, float] = {"always": 1.0, "every": 0.5, "any": 0.0}
"""Of the fits that must need a head at least; of none, one does."""


def needed(result: ChgResult, view: View) -> Sequence[Head]:
    """Those that all fits need (``always``), half of them (``every``), or one (``any``), at the threshold."""
    share = (result.g_minus[result.ran] >= view.threshold).mean(axis=0)
    enough = (share >= SHARES[view.mode] - 1e-9) & (share > 0)
    return [(layer, head) for layer, head in np.argwhere(enough).tolist()]
