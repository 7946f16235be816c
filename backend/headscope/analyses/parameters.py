"""Parameters that analyses share, as types: what they are called, what they mean, what may be given."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from headscope.analyses.references import GatesRef
from headscope.core.gating.ablation import Ablation
from headscope.core.model.head_list import LONGEST, as_text, read_heads
from headscope.errors import Invalid


def _canonical(given: object) -> object:
    """One spelling for the same heads, so that they name the same run."""
    if not isinstance(given, str):
        return given
    if not given.strip():
        return None
    try:
        return as_text(read_heads(given))
    except Invalid as error:
        raise PydanticCustomError("heads", "{why}", {"why": error.message.rstrip(".")}) from error


FirstSeed = Annotated[
    int, Field(ge=0, le=2**31 - 1, title="First seed", description="Seeds count up from here.")
]
SplitSeed = Annotated[
    int, Field(ge=0, le=2**31 - 1, title="Split seed", description="Decides which rows are held out.")
]
_Number = Annotated[int, Field(ge=0, le=64)]
Shots = Annotated[
    _Number | Literal["auto"] | None,
    Field(
        title="In-context examples",
        description="Solved examples before each question; auto: the fewest at which the model does the task "
        "about as well as it can; the task's own number where unset.",
    ),
]
ShotsForEach = Annotated[
    _Number | Literal["auto"] | None,
    Field(
        title="In-context examples",
        description="For tasks that have some; auto: for each the fewest at which the model does it about as "
        "well as it can; each task's own number where unset.",
    ),
]
ShotsOfEach = Annotated[
    int | None,
    Field(
        ge=0,
        le=64,
        title="In-context examples",
        description="For tasks that have some; each task's own number where unset.",
    ),
]
HeadList = Annotated[
    Annotated[str, Field(max_length=LONGEST, json_schema_extra={"format": "heads"})] | None,
    BeforeValidator(_canonical),
]
"""Heads, however written (``core.model.head_list``); kept as "0.3, 1.5"."""

HeldOutRows = Annotated[
    int,
    Field(
        ge=1,
        le=1_000_000,
        title="Held-out examples, at most",
        description="Rows that the gating run never fitted.",
    ),
]
Clamp = Annotated[
    float,
    Field(
        gt=0,
        le=50,
        allow_inf_nan=False,
        title="Logit clamp",
        description="Beyond ± this logit the push stops.",
    ),
]
Clip = Annotated[
    float,
    Field(
        gt=0,
        le=1e6,
        allow_inf_nan=False,
        title="Gradient-norm clip",
        description="Per seed, before each update.",
    ),
]
Gates = Annotated[
    str | None,
    GatesRef(),
    Field(
        max_length=64,
        title="Gates",
        description="The id of saved gates: the gated model is measured. The ungated model where unset.",
    ),
]

AblationSetting = Annotated[
    Ablation,
    Field(
        title="Ablation",
        description="What a head that is switched off gives: nothing (zero, the paper's), its mean over "
        "other rows at the same distance from the end, what it gives in another row (resample), or in the "
        "row's paired prompt (counterfactual).",
    ),
]

Precision = Annotated[
    Literal["float32", "bfloat16", "float64"], Field(title="Precision", description="Of the model.")
]
ScoresPrecision = Annotated[
    Literal["float32", "bfloat16", "float64"],
    Field(title="Precision", description="Of the model. Scores are kept in float32."),
]
FitPrecision = Annotated[
    Literal["float32", "bfloat16", "float64"],
    Field(
        title="Precision",
        description="Of the frozen model. Gates and losses are kept in float32 or better.",
    ),
]
