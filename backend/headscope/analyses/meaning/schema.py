"""Parameters of meaning: the runs that give evidence, and when a test is passed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from headscope.analyses.base import Params
from headscope.analyses.references import RunRef


def _run(title: str, description: str) -> Any:
    return Field(default=None, max_length=64, title=title, description=description)


class MeaningParams(Params):
    """Which finished runs are read; nothing is measured anew."""

    induction: Annotated[str | None, RunRef("induction")] = _run(
        "Induction run", "Where heads look on repeated tokens: previous token, duplicate, induction, sink."
    )
    eigen: Annotated[str | None, RunRef("eigen")] = _run(
        "Eigenvalues run", "What heads copy, from the weights."
    )
    rules: Annotated[str | None, RunRef("mediation-abstract-rules")] = _run(
        "Abstract rules run", "Symbol abstraction, symbolic induction, retrieval."
    )
    functions: Annotated[str | None, RunRef("mediation-function-vectors")] = _run(
        "Function vectors run", "Heads that carry what a task is."
    )
    gating: Annotated[str | None, RunRef("chg")] = _run(
        "Causal head gating run", "What the task needs, to set the names against."
    )
    pattern: float = Field(
        default=0.4,
        gt=0,
        le=1,
        allow_inf_nan=False,
        title="Attention that gives a name",
        description="To the previous token, to a copy, or to what followed one: share of the attention that "
        "isn't on the first token.",
    )
    sink: float = Field(
        default=0.3,
        gt=0,
        le=1,
        allow_inf_nan=False,
        title="Attention that makes a sink",
        description="Mean attention to the first token from which a head is counted as resting there. It "
        "gives no name.",
    )
    remaining: float = Field(
        default=0.1,
        gt=0,
        le=1,
        allow_inf_nan=False,
        title="Attention that must remain",
        description="Beside the first token's, for a head to be named by where it looks.",
    )
    copying: float = Field(
        default=0.5,
        gt=0,
        le=1,
        allow_inf_nan=False,
        title="Positivity that is copying",
        description="Of the OV eigenvalues; anti-copying at this much below 0.",
    )
    threshold: float = Field(
        default=0.5,
        gt=0,
        le=1,
        allow_inf_nan=False,
        title="Role threshold",
        description="A head has a role in a seed where its score reaches this.",
    )
    draws: int = Field(
        default=10_000,
        ge=100,
        le=1_000_000,
        title="Permutations",
        description="Of heads, for the p-values of role against name.",
    )
    within_layers: bool = Field(
        default=False,
        title="Permute within layers",
        description="Exchange heads with those of their own layer only, so that depth explains nothing.",
    )
    seed: int = Field(default=0, ge=0, le=2**31 - 1, title="Seed", description="Of the permutations.")


PRESETS: Mapping[str, Mapping[str, Any]] = {"quick": {"draws": 2_000}, "full": {"draws": 10_000}}
