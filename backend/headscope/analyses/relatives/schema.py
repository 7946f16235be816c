"""Parameters of the relatives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from headscope.analyses.base import Params
from headscope.analyses.parameters import AblationSetting, Shots, SplitSeed


class RelativesParams(Params):
    """Which held-out examples, and how finely gradients are integrated."""

    ADDED: ClassVar[frozenset[str]] = frozenset({"ablation", "refine"})

    n_examples: int = Field(
        default=64,
        ge=2,
        le=100_000,
        title="Held-out examples, at most",
        description="Rows that no fit of the same split saw; every measure is a mean over them.",
    )
    points: int = Field(
        default=8,
        ge=1,
        le=64,
        title="Integration points",
        description="Where gradients are taken between all heads closed and all open, or on each stretch "
        "of that path where it is refined.",
    )
    refine: bool = Field(
        default=False,
        title="Refine the integral",
        description="Halve the path where its points miss the fall of the loss, until an example's parts sum "
        "to it within 2 %, or 128 gradients were taken of it.",
    )
    ablation: AblationSetting = "zero"
    shots: Shots = None
    split_seed: SplitSeed = 0
    dtype: Literal["float32", "bfloat16", "float64"] = Field(
        default="float32",
        title="Precision",
        description="Of the model. Losses are kept in float32 or better.",
    )


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "quick": {"n_examples": 16, "refine": True},
    "full": {"n_examples": 256, "refine": True},
}
