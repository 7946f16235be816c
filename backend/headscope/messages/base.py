"""What every message is made of."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict


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
