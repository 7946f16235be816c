"""Parameters of the sufficiency curve."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from headscope.analyses.base import Params
from headscope.analyses.parameters import AblationSetting, HeldOutRows, Precision
from headscope.analyses.references import GatingRef


class SufficiencyParams(Params):
    """Which gating run gives the order, how finely the curve is drawn, how much must be kept."""

    ADDED: ClassVar[frozenset[str]] = frozenset({"ablation"})

    run: Annotated[str | None, GatingRef(same_task=True, needed=True)] = Field(
        default=None,
        max_length=64,
        title="Causal head gating run",
        description="The id of a finished run of the same model and task; its facilitation orders the heads.",
    )
    keep: float = Field(
        default=0.95,
        gt=0,
        le=1,
        allow_inf_nan=False,
        title="Share to keep",
        description="Of the log-probability that the model gains over itself with all heads closed.",
    )
    points: int = Field(
        default=24,
        ge=2,
        le=200,
        title="Points of the curve",
        description="Numbers of open heads that are tried; where enough is kept is then narrowed down.",
    )
    orders: int = Field(
        default=3,
        ge=1,
        le=32,
        title="Random orders",
        description="To compare with; each has a seed of its own.",
    )
    first_seed: int = Field(
        default=0,
        ge=0,
        le=2**31 - 1,
        title="First seed",
        description="Seeds of random orders count up from here.",
    )
    ablation: AblationSetting = "zero"
    n_test: HeldOutRows = 64
    dtype: Precision = "float32"


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "quick": {"points": 12, "orders": 2, "n_test": 32},
    "full": {"points": 24, "orders": 5, "n_test": 256},
}
