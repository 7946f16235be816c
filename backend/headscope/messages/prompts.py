"""Prompts and gate vectors that someone keeps."""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from pydantic import Field

from headscope.messages.base import ARRAY, REVISION, Schema, TypedArray, example
from headscope.messages.lab import MAX_TEXT, Ablation, Gates

ONE_LINE: Final = r"^[^\p{Cc}]*$"
"""No line ends and no other control characters."""


class PromptIn(Schema):
    model_config = example(text="the cat sat on the cat", name="cats")

    text: str = Field(max_length=MAX_TEXT)
    name: str = Field(default="", max_length=200, pattern=ONE_LINE)


class PromptOut(Schema):
    """A stored prompt or batch; its id is the hash of its texts."""

    model_config = example(
        id="5f1d0c2b9a7e44d3b1aa",
        name="cats",
        kind="text",
        n=1,
        characters=22,
        beginning="the cat sat on the cat",
        created_at="2026-01-05T10:00:00Z",
    )

    id: str
    name: str
    kind: Literal["text", "batch"]
    n: int = Field(description="How many prompts.")
    characters: int
    beginning: str = Field(description="The first characters of the first prompt, on one line.")
    created_at: datetime


class PromptRows(PromptOut):
    """A stored prompt with its texts, or a page of a batch."""

    model_config = example(**PromptOut.example(), texts=["the cat sat on the cat"], offset=0)

    texts: list[str]
    offset: int


class PromptExample(Schema):
    """A built-in prompt for a model."""

    model_config = example(
        name="name",
        title="A name that comes back",
        reading="A made-up name, begun a second time: heads that copy finish it.",
        text="The old wizard Zorblax met a dragon. The wizard Zor",
        bos=None,
        mute=["1.5", "1.2"],
    )

    name: str
    title: str
    reading: str
    text: str
    bos: bool | None
    mute: list[str] = Field(description="Heads worth muting on it, strongest first, e.g. 17.4; may be empty.")


class GateVectorIn(Schema):
    model_config = example(name="no copying", model="headscope-2l", gates=ARRAY, origin="by hand")

    name: str = Field(min_length=1, max_length=200, pattern=ONE_LINE)
    model: str
    gates: Gates
    origin: str = Field(
        default="by hand", max_length=400, pattern=ONE_LINE, description="Where they came from, in words."
    )
    ablation: Ablation = Field(
        default="zero", description="What closed heads gave when the gates were made; zero is nothing."
    )


class GateVectorOut(Schema):
    """A named set of gates for one model; its id is the hash of model, weights and gates."""

    model_config = example(
        id="c04a7e1d5b3f4e82a9d0",
        name="no copying",
        model="headscope-2l",
        revision=REVISION,
        n_layers=1,
        n_heads=2,
        gates=ARRAY,
        closed=1,
        origin="by hand",
        ablation="zero",
        created_at="2026-01-05T10:00:00Z",
    )

    id: str
    name: str
    model: str
    revision: str
    n_layers: int
    n_heads: int
    gates: TypedArray = Field(description="[layers, heads] f4.")
    closed: int = Field(description="Gates below 0.5.")
    origin: str
    ablation: Ablation
    created_at: datetime


class GatePreset(Schema):
    """Gates that a finished run gives."""

    model_config = example(
        name="facilitating",
        title="Only needed heads",
        reading="The 1 head needed on average over 3 seeds; all others off.",
        gates=ARRAY,
        open=1,
    )

    name: str
    title: str
    reading: str
    gates: TypedArray
    open: int = Field(description="Gates of at least 0.5.")
