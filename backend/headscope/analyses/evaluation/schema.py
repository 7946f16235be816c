"""Parameters of an evaluation of gates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from headscope.analyses.base import Params, TaskNames
from headscope.analyses.parameters import Precision, ShotsForEach, SplitSeed
from headscope.analyses.references import GatesRef, TasksRef
from headscope.core.gating.ablation import Ablation


class EvaluationParams(Params):
    """Which gates, on which tasks, by how many examples."""

    ADDED: ClassVar[frozenset[str]] = frozenset({"ablation"})

    gates: Annotated[str | None, GatesRef(needed=True)] = Field(
        default=None,
        max_length=64,
        title="Gates",
        description="The id of kept gates of this model.",
    )
    tasks: Annotated[TaskNames, TasksRef(needed=True)] = Field(
        default=(),
        max_length=32,
        title="Tasks",
        description="Each is scored without and with the gates.",
    )
    n_test: int = Field(
        default=256,
        ge=1,
        le=1_000_000,
        title="Held-out examples, at most",
        description="Of each task.",
    )
    ablation: Ablation | None = Field(
        default=None,
        title="Ablation",
        description="What closed heads give: nothing (zero), their mean over other rows of each task, what "
        "they give in another row (resample), or in the row's paired prompt (counterfactual). As the gates "
        "were fitted where unset.",
    )
    shots: ShotsForEach = None
    split_seed: SplitSeed = 0
    dtype: Precision = "float32"


PRESETS: Mapping[str, Mapping[str, Any]] = {"quick": {"n_test": 64}, "full": {"n_test": 1024}}
