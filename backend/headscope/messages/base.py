"""What every message is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

if TYPE_CHECKING:
    from headscope.core.model.tokens import Token


class Schema(BaseModel):
    """Base of everything that travels; unknown names are refused."""

    model_config = ConfigDict(extra="forbid")


class AboutModel(Schema):
    model: str


class TokenOut(Schema):
    id: int
    start: int = Field(description="Byte offset in the UTF-8 text.")
    end: int
    text: str | None = Field(description="None where the bytes are not valid UTF-8 by themselves.")
    hex: str
    special: bool

    @classmethod
    def of(cls, token: Token) -> TokenOut:
        """A token as it travels."""
        return cls(
            id=token.id,
            start=token.start,
            end=token.end,
            text=token.text,
            hex=token.bytes.hex(),
            special=token.special,
        )


class TypedArray(TypedDict):
    """An array as plotly and ``core.arrays`` read it, little-endian; NaN survives."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]

    dtype: str
    shape: str
    bdata: str
