"""Parameters of a battery, and the prompts that it takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from headscope.analyses.base import Input, Params
from headscope.analyses.parameters import Gates, ScoresPrecision
from headscope.errors import Invalid
from headscope.tasks.prompts import PromptSet


class BatteryParams(Params):
    """Which prompts, and how they are read."""

    prompts: str | None = Field(
        default=None,
        max_length=64,
        title="Prompts",
        description="The id of stored prompts, one or a batch.",
        json_schema_extra={"needed": True},
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


PRESETS: Mapping[str, Mapping[str, Any]] = {}


def prompts_of(inputs: Mapping[str, Input] | None) -> PromptSet:
    """The prompts that the run's parameter names. Raises ``Invalid`` (prompts-missing) without it."""
    prompts = (inputs or {}).get("prompts")
    if not isinstance(prompts, PromptSet):
        raise Invalid(
            "A battery needs prompts.",
            "Name stored ones: `headscope prompts list` shows them, `headscope prompts add` stores more.",
            code="prompts-missing",
        )
    return prompts
