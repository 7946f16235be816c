"""The roles of a gating run as sets of heads, for the cross table."""

from __future__ import annotations

from typing import Final

import numpy as np
from jaxtyping import Bool

from headscope.analyses.base import Result
from headscope.analyses.orders import fitted
from headscope.core.gating.roles import scores
from headscope.errors import Invalid

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


def role_sets(run: Result, threshold: float) -> dict[str, Bool[np.ndarray, "layer head"]]:
    """Heads [layer, head] by role. ``Invalid`` (nothing-fitted) where no seed has a fit."""
    ran = fitted(run)
    if not ran.any():
        raise Invalid("No seed of the gating run has a fit.", "Name another run.", code="nothing-fitted")
    by_score = scores(run.arrays["g_plus"][ran], run.arrays["g_minus"][ran])
    hold = {"always": np.all, "any": np.any}
    return {
        key: np.asarray(hold[over](by_score[score] >= threshold, axis=0)) for key, _, score, over in ROLES
    }
