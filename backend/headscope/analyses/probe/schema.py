"""Parameters of the linear probe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from headscope.analyses.base import Params
from headscope.analyses.parameters import Shots, SplitSeed


class ProbeParams(Params):
    """What the label is, and how many rows and controls."""

    groups: str | None = Field(
        default=None,
        max_length=2000,
        title="Labels",
        description="Answers that count as one label, with commas between, labels with | between: "
        "is, has, was | are, have, were. Each answer is a label of its own where unset.",
    )
    most_labels: int = Field(
        default=10,
        ge=2,
        le=100,
        title="Labels, at most",
        description="The most frequent ones; rows with other answers are left out.",
    )
    least_rows: int = Field(
        default=10,
        ge=2,
        le=10_000,
        title="Rows of a label, at least",
        description="A label with fewer training rows is left out.",
    )
    n_train: int = Field(
        default=512, ge=4, le=100_000, title="Training rows, at most", description="The probes are fitted on."
    )
    n_test: int = Field(
        default=256, ge=2, le=100_000, title="Held-out rows, at most", description="The probes are scored on."
    )
    controls: int = Field(
        default=3,
        ge=1,
        le=32,
        title="Shuffled controls",
        description="Fits on shuffled labels, each by a seed of its own: what a probe gets by chance.",
    )
    first_seed: int = Field(
        default=0, ge=0, le=2**31 - 1, title="First seed", description="Seeds of controls count up from here."
    )
    shots: Shots = None
    split_seed: SplitSeed = 0
    dtype: Literal["float32", "bfloat16", "float64"] = Field(
        default="float32", title="Precision", description="Of the model. Probes are fitted in float64."
    )


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "quick": {"n_train": 128, "n_test": 64, "controls": 1},
    "full": {"n_train": 2048, "n_test": 1024, "controls": 10},
}
