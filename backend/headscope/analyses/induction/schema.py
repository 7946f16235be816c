"""Parameters of the induction analysis, and what follows from them: how long its sequences are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from headscope.analyses.base import Params
from headscope.analyses.parameters import FirstSeed, Gates, ScoresPrecision
from headscope.core.model.info import ModelInfo
from headscope.errors import Invalid


class InductionParams(Params):
    """Repeated random tokens: how long, how often, how many draws."""

    seeds: int = Field(
        default=8,
        ge=1,
        le=256,
        title="Draws",
        description="Sequences of random tokens, each drawn by a seed of its own. Their spread is the error.",
    )
    first_seed: FirstSeed = 0
    length: int = Field(
        default=50,
        ge=4,
        le=4096,
        title="Tokens in a copy",
        description="Different random tokens, then the same again; the copies must fit the model's context.",
    )
    copies: int = Field(
        default=2, ge=2, le=16, title="Copies", description="How often the random tokens stand in a sequence."
    )
    ablate: int = Field(
        default=8,
        ge=0,
        le=64,
        title="Heads to gate off",
        description="So many of the strongest induction heads are gated off one at a time; 0 for none.",
    )
    gates: Gates = None
    dtype: ScoresPrecision = "float32"


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "quick": {"seeds": 4, "ablate": 4},
    "paper": {"seeds": 16, "length": 25, "copies": 4, "ablate": 8},
}
"""``paper`` has the sequences of Olsson et al. 2022: 25 tokens, four times."""


def positions(params: InductionParams, model: ModelInfo) -> int:
    """Tokens of a sequence, BOS included. Raises ``Invalid`` (too-long) where the context doesn't hold it."""
    tokens = int(model.bos) + params.copies * params.length
    if tokens > model.n_ctx:
        most = (model.n_ctx - int(model.bos)) // params.copies
        raise Invalid(
            f"{params.copies} copies of {params.length} tokens{' and BOS' if model.bos else ''} are {tokens} "
            f"tokens; the context of {model.name} holds {model.n_ctx}.",
            f"Use at most {most} tokens in a copy, or fewer copies.",
            code="too-long",
        )
    return tokens


def learning_pair(tokens: int) -> tuple[int, int]:
    """The positions whose losses are compared for in-context learning: 50 and 500 [Olsson et al. 2022].

    Where the sequence is shorter, its last position and the one at a tenth of that.
    """
    late = min(500, tokens - 1)
    return max(1, late // 10), late
