"""The roles of a gating run as sets of heads, for the cross table."""

from __future__ import annotations

from typing import Final

import numpy as np
from jaxtyping import Bool

from headscope.analyses.chg.result import ChgResult

ROLES: Final = (
    ("always_needed", "always needed", "facilitation", "always"),
    ("any_needed", "needed in some seed", "facilitation", "any"),
    ("always_harmful", "always harmful", "interference", "always"),
    ("any_harmful", "harmful in some seed", "interference", "any"),
    ("always_irrelevant", "never matters", "irrelevance", "always"),
)
"""Key, words, score, over seeds."""

SIGNIFICANT: Final = 0.05
"""A tie of role and name is starred, and named first, below this corrected p."""


def role_sets(run: ChgResult, threshold: float) -> dict[str, Bool[np.ndarray, "layer head"]]:
    """Heads by role, over the seeds that have a fit."""
    hold = {"always": np.all, "any": np.any}
    return {
        key: np.asarray(hold[over](run.scores[score][run.ran] >= threshold, axis=0))
        for key, _, score, over in ROLES
    }
