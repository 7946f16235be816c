"""How a logit on someone's own prompt comes about: as a sum over the model's parts, and layer by layer."""

from __future__ import annotations

from pydantic import Field

from headscope.messages.base import Schema, TokenOut, TypedArray, example
from headscope.messages.lab import Closing, Gates, LabIn


class AttributionIn(Closing, LabIn):
    model_config = example(**LabIn.example(), at=5, token=3290)

    at: int | None = Field(
        default=None, ge=0, description="The position that predicts; the last where unset."
    )
    token: int | None = Field(default=None, ge=0, description="The most likely token where unset.")
    against: int | None = Field(default=None, ge=0, description="Attribute the logit difference to this one.")
    gates: Gates | None = None


class Part(Schema):
    """A summand of the logit that is no head: embedding, an MLP, biases."""

    model_config = example(name="embedding", title="Embedding", value=0.8)

    name: str
    title: str
    value: float


class AttributionOut(Schema):
    """A logit (or difference of two) as a sum over the parts of the model, normalisation scale frozen."""

    model_config = example(
        model="headscope-2l",
        tokens=[TokenOut.example()],
        at=0,
        token=TokenOut.example(),
        against=None,
        heads=TypedArray(dtype="f4", shape="1, 1", bdata="AACAPw=="),
        parts=[Part.example()],
        total=1.8,
        logit=1.8,
        note="",
    )

    model: str
    tokens: list[TokenOut]
    at: int
    token: TokenOut
    against: TokenOut | None
    heads: TypedArray = Field(description="[layers, heads] f4.")
    parts: list[Part]
    total: float = Field(description="The sum of all the above.")
    logit: float = Field(description="What the model says; `total` equals it to rounding.")
    note: str


class LensIn(Closing, LabIn):
    model_config = example(**LabIn.example(), at=5)

    at: int | None = Field(default=None, ge=0)
    token: int | None = Field(default=None, ge=0)
    gates: Gates | None = None


class LensLayer(Schema):
    """What the stream says after so many layers, read through the final norm and the unembedding."""

    model_config = example(
        layers=1, top=[TokenOut.example()], top_probability=[0.61], log_probability=-0.5, rank=0
    )

    layers: int
    top: list[TokenOut]
    top_probability: list[float]
    log_probability: float = Field(description="Of the followed token.")
    rank: int


class LensOut(Schema):
    model_config = example(model="headscope-2l", at=0, token=TokenOut.example(), layers=[LensLayer.example()])

    model: str
    at: int
    token: TokenOut
    layers: list[LensLayer]
