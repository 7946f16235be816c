"""What the web and workers say to each other, also in the API's own words. Loads no torch."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

MAX_TEXT: Final = 400_000
"""Characters of a prompt; no model's context holds as many."""


class Schema(BaseModel):
    """Base of everything that travels; unknown names are refused."""

    model_config = ConfigDict(extra="forbid")


class TokenOut(Schema):
    id: int
    start: int = Field(description="Byte offset in the UTF-8 text.")
    end: int
    text: str | None = Field(description="None where the bytes are not valid UTF-8 by themselves.")
    hex: str
    special: bool


class TypedArray(TypedDict):
    """An array as plotly and ``core.arrays`` read it, little-endian; NaN survives."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    dtype: str
    shape: str
    bdata: str


class LabIn(Schema):
    model: str
    text: str = Field(max_length=MAX_TEXT)
    bos: bool | None = Field(
        default=None, description="Put a BOS token first; the tokenizer's own policy where unset."
    )


class PatternsIn(LabIn):
    layers: list[int] | None = Field(default=None, description="All layers where unset.")


class PatternsOut(Schema):
    model: str
    tokens: list[TokenOut]
    layers: list[int]
    patterns: TypedArray = Field(description="[layers, heads, query, key] f4 typed array; rows sum to 1.")


class GatesIn(LabIn):
    gates: TypedArray | list[list[float]] = Field(description="[layers, heads] in [0, 1].")
    top: int = Field(default=10, ge=1, le=100)


class NextToken(Schema):
    token: TokenOut
    before: float
    after: float


class GatesOut(Schema):
    model: str
    tokens: list[TokenOut]
    next: list[NextToken]
    loss_before: list[float | None] = Field(
        description="Nats per token; None for the first, which nothing predicts."
    )
    loss_after: list[float | None]
    kl: float = Field(description="KL(ungated || gated) at the last position, nats.")


class TaskAccuracyOut(Schema):
    """How the model does on the task without gates, computed by a worker and kept."""

    task: str
    model: str
    status: Literal["done", "computing", "unavailable"]
    accuracy: float | None = Field(
        description="Share of held-out examples whose target tokens are all the most likely ones."
    )
    log_probability: float | None = Field(description="Mean held-out log-probability per target token, nats.")
    chance: float | None = Field(description="What guessing the most frequent target would get.")
    n: int | None
    verdict: Literal["can", "weak", "cannot"] | None
    detail: str
