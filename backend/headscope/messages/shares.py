"""A lab view that someone shares: what is asked for, and the copy that the share keeps."""

from __future__ import annotations

from pydantic import Field

from headscope.messages.base import ARRAY, REVISION, TypedArray, example
from headscope.messages.lab import Closing, Gates, GatesOut, LabIn, LookOut


class LabShareIn(Closing, LabIn):
    """What to keep a copy of: a worker is asked for it once, when the share is made."""

    model_config = example(**LabIn.example(), gates=[[1.0, 0.0]], at=None, answers=[])

    fold: bool = False
    weighted: bool = False
    gates: Gates = Field(description="[layers, heads] in [0, 1].")
    at: int | None = Field(default=None, ge=0, description="The position that is read; the last where unset.")
    answers: list[int] = Field(default_factory=list, max_length=2)


class SharedLab(Closing):
    """A lab view as it was when it was shared, prompt included. Reading it needs no worker."""

    model_config = example(
        model="headscope-2l",
        model_title="Headscope two-layer",
        revision=REVISION,
        text="cats",
        look=LookOut.example(),
        gates=GatesOut.example(),
        gate_values=ARRAY,
    )

    model: str
    model_title: str
    revision: str
    text: str
    look: LookOut
    gates: GatesOut
    gate_values: TypedArray = Field(description="[layers, heads] f4.")
