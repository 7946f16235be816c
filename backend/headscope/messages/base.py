"""What every message is made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from pydantic import BaseModel, ConfigDict, Field, with_config
from typing_extensions import TypedDict

if TYPE_CHECKING:
    from headscope.core.model.glyphs import Glyph
    from headscope.core.model.tokens import Token


REVISION: Final = "b1946ac92492d2347c6235b4d2611184"
"""Names weights in examples."""


def example(**values: Any) -> ConfigDict:
    """A message's configuration with an example, which the API's document shows beside its schema."""
    return ConfigDict(json_schema_extra={"examples": [values]})


class Schema(BaseModel):
    """Base of everything that travels; unknown names are refused."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def example(cls) -> dict[str, Any]:
        """Its own example."""
        extra = cls.model_config.get("json_schema_extra")
        assert isinstance(extra, dict)  # noqa: S101 - as ``example`` writes it
        return cast("list[dict[str, Any]]", extra["examples"])[0]


class AboutModel(Schema):
    """Base of what is asked about one model."""

    model: str


class GlyphOut(Schema):
    model_config = example(text="日", part=1, parts=3)

    text: str = Field(description="The whole characters that the tokens share.")
    part: int = Field(description="Which of these tokens this is, from 1.")
    parts: int = Field(description="How many tokens share them.")

    @classmethod
    def of(cls, glyph: Glyph) -> GlyphOut:
        """A glyph as it travels."""
        return cls(text=glyph.text, part=glyph.part, parts=glyph.parts)


class TokenOut(Schema):
    model_config = example(id=3290, start=0, end=4, text="cats", hex="63617473", special=False)

    id: int
    start: int = Field(description="Byte offset in the UTF-8 text.")
    end: int
    text: str | None = Field(description="None where the bytes are not valid UTF-8 by themselves.")
    hex: str
    special: bool
    glyph: GlyphOut | None = Field(
        default=None, description="The characters that it shares with its neighbours, where it does."
    )
    unknown: bool = Field(
        default=False,
        description="The vocabulary lacks what it covers: the model reads that something stands there.",
    )

    @classmethod
    def of(cls, token: Token) -> TokenOut:
        """A token as it travels."""
        glyph = token.glyph
        return cls(
            id=token.id,
            start=token.start,
            end=token.end,
            text=token.text,
            hex=token.bytes.hex(),
            special=token.special,
            glyph=None if glyph is None else GlyphOut.of(glyph),
            unknown=token.unknown,
        )


@with_config(ConfigDict(extra="forbid") | example(dtype="f4", shape="1, 2", bdata="AACAPwAAAAA="))
class TypedArray(TypedDict):
    """An array as plotly and ``core.arrays`` read it, little-endian; NaN survives."""

    dtype: str
    shape: str
    bdata: str


ARRAY: Final = TypedArray(dtype="f4", shape="1, 2", bdata="AACAPwAAAAA=")
"""One for examples: 1 and 0."""
