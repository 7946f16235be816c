"""Prompts and gate vectors that someone keeps."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from pydantic import Field

from headscope.messages.base import Schema, TypedArray
from headscope.messages.lab import MAX_TEXT, Gates

ONE_LINE: Final = r"^[^\p{Cc}]*$"
"""No line ends and no other control characters."""


class PromptIn(Schema):
    text: str = Field(max_length=MAX_TEXT)
    name: str = Field(default="", max_length=200, pattern=ONE_LINE)


class PromptOut(Schema):
    """A stored prompt or batch; its id is the hash of its texts."""

    id: str
    name: str
    kind: Literal["text", "batch"]
    n: int = Field(description="How many prompts.")
    characters: int
    beginning: str = Field(description="The first characters of the first prompt, on one line.")
    created_at: datetime


class PromptRows(PromptOut):
    """A stored prompt with its texts, or a page of a batch."""

    texts: list[str]
    offset: int


class PromptExample(Schema):
    """A built-in prompt for a model."""

    name: str
    title: str
    reading: str
    text: str
    bos: bool | None
    mute: list[str] = Field(description="Heads worth muting on it, strongest first, e.g. 17.4; may be empty.")


class GateVectorIn(Schema):
    name: str = Field(min_length=1, max_length=200, pattern=ONE_LINE)
    model: str
    gates: Gates
    origin: str = Field(
        default="by hand", max_length=400, pattern=ONE_LINE, description="Where they came from, in words."
    )


class GateVectorOut(Schema):
    """A named set of gates for one model; its id is the hash of model, weights and gates."""

    id: str
    name: str
    model: str
    revision: str
    n_layers: int
    n_heads: int
    gates: TypedArray = Field(description="[layers, heads] f4.")
    closed: int = Field(description="Gates below 0.5.")
    origin: str
    created_at: datetime


class GatePreset(Schema):
    """Gates that a finished run gives."""

    name: str
    title: str
    reading: str
    gates: TypedArray
    open: int = Field(description="Gates of at least 0.5.")
