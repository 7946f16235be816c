"""Parameters of sequential ablation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from headscope.analyses.base import Params
from headscope.analyses.parameters import AblationSetting, HeldOutRows, Precision
from headscope.analyses.references import GatingRef
from headscope.core.gating.removal import counts
from headscope.core.model.info import ModelInfo
from headscope.errors import Invalid


class SequentialAblationParams(Params):
    """Which gating run gives the orders and base masks, how many heads are tried, what to compare with."""

    ADDED: ClassVar[frozenset[str]] = frozenset({"ablation"})

    gating: Annotated[str | None, GatingRef(same_task=True, needed=True)] = Field(
        default=None,
        max_length=64,
        title="Causal head gating run",
        description="The id of a finished run of the same model and task; its scores order the heads.",
    )
    seeds: int | None = Field(
        default=None,
        ge=1,
        le=64,
        title="Seeds of that run, at most",
        description="The first ones that have a fit; all of them where unset.",
    )
    points: int = Field(
        default=24,
        ge=2,
        le=200,
        title="Points of a curve",
        description="Numbers of heads that are tried, none among them; close together where few are taken.",
    )
    largest: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        title="Most heads taken (K)",
        description="All heads of the model where unset.",
    )
    orders: int = Field(
        default=20,
        ge=1,
        le=200,
        title="Random orders, in all",
        description="To compare with; they take turns with the seeds' base masks.",
    )
    first_seed: int = Field(
        default=0,
        ge=0,
        le=2**31 - 1,
        title="First seed of a random order",
        description="Seeds of random orders count up from here.",
    )
    ablation: AblationSetting = "zero"
    n_test: HeldOutRows = 256
    dtype: Precision = "float32"


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "quick": {"seeds": 3, "points": 8, "orders": 5, "n_test": 32},
    "paper": {"points": 24, "orders": 20, "n_test": 256},
}


def tried(params: SequentialAblationParams, model: ModelInfo) -> list[int]:
    """Numbers k of heads, from 0 to K. ``Invalid`` (too-many-heads) where the model has fewer than K."""
    heads = model.n_layers * model.n_heads
    if params.largest is not None and params.largest > heads:
        raise Invalid(
            f"The {params.largest} heads to be taken are more than the {heads} that {model.name} has.",
            f"Take at most {heads}, or leave the number out to take all.",
            code="too-many-heads",
        )
    return counts(params.points, params.largest or heads)
