"""Parameters of the residual-stream analysis."""

from __future__ import annotations

from pydantic import Field

from headscope.analyses.from_weights import WeightParams
from headscope.analyses.paths.schema import SAMPLE


class ResidualParams(WeightParams):
    """The weights say who reads whom; one prompt says how large the stream grows."""

    text: str = Field(
        default=SAMPLE,
        min_length=1,
        max_length=20_000,
        title="Prompt",
        description="On which norms along the stream, and attention to the present token, are measured. It "
        "is stored with the run.",
    )
