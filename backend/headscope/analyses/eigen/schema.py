"""Parameters of the eigenvalue analysis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from headscope.analyses.from_weights import WeightParams
from headscope.analyses.parameters import FirstSeed


class EigenParams(WeightParams):
    """The weights say what a head copies and matches; a few random sequences say which heads look back."""

    seeds: int = Field(
        default=8,
        ge=1,
        le=64,
        title="Draws",
        description="Sequences of random tokens, twice, on which previous-token and induction scores are "
        "measured.",
    )
    first_seed: FirstSeed = 0
    length: int = Field(
        default=32, ge=4, le=1024, title="Tokens in a copy", description="Random tokens, then the same again."
    )
    offset: int = Field(
        default=1,
        ge=0,
        le=4096,
        title="Distance",
        description="For models with rotary positions: QK numbers also with the key so many tokens before "
        "the query.",
    )


PRESETS: Mapping[str, Mapping[str, Any]] = {"quick": {"seeds": 2}, "paper": {"seeds": 16, "length": 50}}
