"""Parameters of mediation by function vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from headscope.analyses.base import Params, TaskNames
from headscope.analyses.parameters import Precision
from headscope.analyses.references import TasksRef
from headscope.tasks.shuffled import LEAST_SHOTS
from headscope.tasks.text import MAX_SHOTS


class FunctionVectorParams(Params):
    """How many prompts of each kind, of how many tasks, and what counts as standing out."""

    tasks: Annotated[TaskNames, TasksRef()] = Field(
        default=(),
        max_length=32,
        title="More tasks",
        description="Beside the run's own: effects are given for each task and averaged over all.",
    )
    shots: int = Field(
        default=10,
        ge=LEAST_SHOTS,
        le=MAX_SHOTS,
        title="In-context examples",
        description="Before each question; two or more, since their labels are exchanged.",
    )
    clean: int = Field(
        default=50,
        ge=1,
        le=10_000,
        title="Clean prompts, at most",
        description="A head's mean output is taken over these; questions of the training split.",
    )
    prompts: int = Field(
        default=25,
        ge=2,
        le=10_000,
        title="Shuffled prompts, at most",
        description="Into each the mean is put, one head at a time; questions of the test split.",
    )
    sds: float = Field(
        default=3.0,
        gt=0,
        le=20,
        allow_inf_nan=False,
        title="Standard deviations",
        description="A head stands out where its effect lies so many above the mean over all heads.",
    )
    seed: int = Field(
        default=0,
        ge=0,
        le=2**31 - 1,
        title="Seed",
        description="Of the splits, of the in-context examples and of the order of their labels.",
    )
    dtype: Precision = "float32"


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "quick": {"shots": 5, "clean": 20, "prompts": 10},
    "paper": {
        "tasks": [
            "singular-plural",
            "present-past",
            "capitalize",
            "country-capital",
            "antonym",
            "english-french",
        ],
        "shots": 10,
        "clean": 100,
        "prompts": 25,
    },
}
"""``paper`` has the numbers of Todd et al. 2024 and the six tasks that Headscope ships of theirs."""


def seeds(params: FunctionVectorParams) -> Sequence[int]:
    """The one seed of all that is drawn."""
    return (params.seed,)
