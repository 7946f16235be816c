"""Parameters of the path expansion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from headscope.analyses.base import Params
from headscope.analyses.references import PromptsRef

SAMPLE = "The keeper kept the key in mind. The keeper kept the"


class PathsParams(Params):
    """Which logit is expanded, and on what the importance of terms is measured."""

    text: str = Field(
        default=SAMPLE,
        min_length=1,
        max_length=20_000,
        title="Prompt",
        description="Its logits are expanded into paths. It is stored with the run.",
    )
    at: int | None = Field(
        default=None,
        ge=0,
        title="Position",
        description="The token whose prediction is looked at, counted from 0; the last one where unset.",
    )
    token: int | None = Field(
        default=None,
        ge=0,
        title="Next token",
        description="The id of the token whose logit is expanded; the most likely one where unset.",
    )
    against: int | None = Field(
        default=None,
        ge=0,
        title="Against",
        description="The id of another token: the difference of the two logits is expanded.",
    )
    prompts: Annotated[str | None, PromptsRef()] = Field(
        default=None,
        max_length=64,
        title="Prompts",
        description="The id of saved prompts on which the importance of heads is measured; random tokens "
        "that repeat where unset.",
    )
    rows: int = Field(
        default=4,
        ge=1,
        le=256,
        title="Sequences",
        description="So many prompts, or draws of random tokens, for the importance of heads.",
    )
    length: int = Field(
        default=24,
        ge=4,
        le=512,
        title="Tokens in a copy",
        description="Of the random tokens, which stand there twice.",
    )
    first_seed: int = Field(
        default=0, ge=0, le=2**31 - 1, title="First seed", description="Of the random tokens."
    )
    weight_processing: Literal["folded"] = Field(
        default="folded",
        title="Weight processing",
        description="Paths are exact with norm weights folded into what reads the stream, and only so.",
    )
    dtype: Literal["float32", "float64"] = Field(
        default="float32", title="Precision", description="Of the model and of all that is computed."
    )


PRESETS: Mapping[str, Mapping[str, Any]] = {"quick": {"rows": 2}}
