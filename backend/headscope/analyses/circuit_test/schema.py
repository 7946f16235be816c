"""Parameters of the tests of a circuit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from headscope.analyses.base import Params
from headscope.analyses.parameters import (
    AblationSetting,
    FirstSeed,
    HeadList,
    Precision,
    Shots,
    SplitSeed,
)
from headscope.analyses.references import GatingRef, RunRef


class CircuitTestParams(Params):
    """Which heads are the circuit, which rankings are set beside it, and how much is drawn at random."""

    ADDED: ClassVar[frozenset[str]] = frozenset({"ablation"})

    heads: HeadList = Field(
        default=None,
        title="Heads of the circuit",
        description="As layer.head: 0.3, 1.5. Where unset, those that the gating run calls needed.",
    )
    gating: Annotated[str | None, GatingRef(same_task=True)] = Field(
        default=None,
        max_length=64,
        title="Causal head gating run",
        description="The id of a finished run of the same model and task: gives the circuit where no heads "
        "are named, a ranking by facilitation, and the split of the rows.",
    )
    relatives: Annotated[str | None, RunRef("relatives", same_task=True)] = Field(
        default=None,
        max_length=64,
        title="Effects run",
        description="Rankings by leave-one-out, integrated gradients, attribution patching and direct logit "
        "attribution are set beside it.",
    )
    threshold: float = Field(
        default=0.5,
        gt=0,
        le=1,
        allow_inf_nan=False,
        title="Threshold",
        description="A gating run's fit needs a head whose facilitation reaches this.",
    )
    fits: float = Field(
        default=1.0,
        gt=0,
        le=1,
        allow_inf_nan=False,
        title="Share of fits",
        description="Heads that at least this share of the gating run's fits need are the circuit.",
    )
    metric: Literal["log_probability", "logit_difference"] = Field(
        default="log_probability",
        title="Metric",
        description="Mean log-probability of the targets, or how far their logit is above the wrong "
        "answer's, for tasks that have one.",
    )
    ablation: AblationSetting = "zero"
    orders: int = Field(
        default=20,
        ge=1,
        le=200,
        title="Random rankings",
        description="Curves to compare with; each has a seed of its own.",
    )
    circuits: int = Field(
        default=99,
        ge=1,
        le=2000,
        title="Random circuits",
        description="Of the circuit's size, to rank it among: fewer than 19 can show nothing at 5 %.",
    )
    subsets: int = Field(
        default=20,
        ge=1,
        le=500,
        title="Random subsets",
        description="Of the circuit, knocked out of it and of the model.",
    )
    inflations: int = Field(
        default=99,
        ge=1,
        le=2000,
        title="Heads from outside, at most",
        description="Each is added to the circuit; what its removal costs is compared with the members'.",
    )
    permutations: int = Field(
        default=999, ge=19, le=100_000, title="Permutations", description="Of the independence test."
    )
    first_seed: FirstSeed = 0
    n_test: int = Field(
        default=64,
        ge=2,
        le=100_000,
        title="Held-out examples, at most",
        description="Rows that no fit of the same split saw; few can tell little.",
    )
    shots: Shots = None
    split_seed: SplitSeed = 0
    dtype: Precision = "float32"


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "quick": {"n_test": 32, "circuits": 39, "subsets": 10, "inflations": 39},
    "full": {"n_test": 256, "circuits": 199, "subsets": 50, "inflations": 199},
}
