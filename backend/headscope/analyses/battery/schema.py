"""Parameters of a battery."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from headscope.analyses.base import Params
from headscope.analyses.parameters import Gates, ScoresPrecision
from headscope.analyses.references import PromptsRef


class BatteryParams(Params):
    """Which prompts, and how they are read."""

    prompts: Annotated[str | None, PromptsRef(needed=True)] = Field(
        default=None,
        max_length=64,
        title="Prompts",
        description="The id of stored prompts, one or a batch.",
    )
    gates: Gates = None
    fold: bool = Field(
        default=False,
        title="Ignore case and spaces",
        description="Tokens that differ in case or in the space before them count as the same.",
    )
    bos: bool | None = Field(
        default=None,
        title="BOS first",
        description="Put a BOS token before each prompt; the tokenizer's own policy where unset.",
    )
    too_long: Literal["refuse", "skip"] = Field(
        default="refuse",
        title="Prompts longer than the context",
        description="Refuse the run, or skip them and list them. They are never cut.",
    )
    dtype: ScoresPrecision = "float32"
