"""Parameters of the composition analysis."""

from __future__ import annotations

from pydantic import Field

from headscope.analyses.from_weights import WeightParams


class CompositionParams(WeightParams):
    """All pairs of heads, from the weights alone."""

    baseline_seed: int = Field(
        default=0,
        ge=0,
        le=2**31 - 1,
        title="Baseline seed",
        description="Draws the random matrices whose mean score is subtracted.",
    )
