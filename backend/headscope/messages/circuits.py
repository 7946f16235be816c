"""Circuits of a model's weights: what pages look up of one head, and what a worker answers.

Numbers come from the weights alone, so no prompt is sent. `raw` and `folded` weights give different numbers,
and every answer says which it is.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from headscope.messages.base import AboutModel, Schema, TokenOut, example

Circuit = Literal["ov", "qk", "direct"]
Processing = Literal["folded", "raw"]

MOST_CELLS: Final = 200


class CircuitIn(AboutModel):
    weight_processing: Processing = Field(
        default="folded", description="Norm weights folded into what reads the stream, or left out."
    )
    wait: float = Field(
        default=20,
        ge=0,
        le=60,
        description="Seconds to wait for a model that is being loaded; then 503 `model-loading`.",
    )


class TablesIn(CircuitIn):
    model_config = example(
        model="headscope-2l", layer=1, head=5, weight_processing="folded", circuit="ov", token=3290, top=20
    )

    circuit: Circuit = Field(description="`ov`: source -> output; `qk`: query <- key; `direct`: bigrams.")
    layer: int = Field(default=0, ge=0, description="Of no account for `direct`.")
    head: int = Field(default=0, ge=0)
    token: int | None = Field(
        default=None,
        ge=0,
        description="The strongest cells in this token's row and column; of the whole table where unset.",
    )
    top: int = Field(default=20, ge=1, le=MOST_CELLS)
    vocabulary: int | None = Field(
        default=None,
        ge=2,
        description="Only the first so many token ids; in most vocabularies the frequent ones.",
    )


class Cell(Schema):
    """`row` is the source (`ov`), the query (`qk`) or the first token (`direct`); `column` what it raises,
    looks at, or is followed by.
    """

    model_config = example(row=TokenOut.example(), column=TokenOut.example(), value=12.1)

    row: TokenOut
    column: TokenOut
    value: float


class TablesOut(Schema):
    model_config = example(
        model="headscope-2l",
        layer=1,
        head=5,
        weight_processing="folded",
        circuit="ov",
        token=TokenOut.example(),
        cells=[Cell.example()],
        column=[Cell.example()],
        vocabulary=512,
        unit="logits, up to the scale of the norms",
        limits=["Learned positions are added to the tokens."],
    )

    model: str
    circuit: Circuit
    layer: int
    head: int
    weight_processing: Processing
    token: TokenOut | None
    cells: list[Cell] = Field(description="The strongest of the table, or of the token's row.")
    column: list[Cell] = Field(description="The strongest of the token's column; empty without a token.")
    vocabulary: int = Field(description="Tokens that the table covers.")
    unit: str
    limits: list[str] = Field(description="What the numbers leave out, in sentences.")


class CrossedIn(CircuitIn):
    """Two pairs to cross, or none: then the worst that the head has are looked for."""

    model_config = example(
        model="headscope-2l",
        layer=1,
        head=5,
        weight_processing="folded",
        source=3290,
        pairs=[[300, 301], [302, 303]],
    )

    layer: int = Field(ge=0)
    head: int = Field(ge=0)
    source: int | None = Field(default=None, ge=0, description="The token that is looked back at, e.g. keep.")
    pairs: list[tuple[int, int]] = Field(
        default_factory=list,
        max_length=2,
        description="Two pairs (present token, next token), e.g. (in, mind) and (at, bay).",
    )
    top: int = Field(default=10, ge=1, le=50)
    vocabulary: int = Field(
        default=4096, ge=2, description="Where pairs are looked for: among the first so many token ids."
    )


class Trigram(Schema):
    """`source ... destination -> output`; `score` is q o where both are above 0, else 0."""

    model_config = example(destination=TokenOut.example(), output=TokenOut.example(), q=2.0, o=4.0, score=8.0)

    destination: TokenOut
    output: TokenOut
    q: float
    o: float
    score: float


class CrossedPairs(Schema):
    model_config = example(
        source=TokenOut.example(),
        intended=[Trigram.example(), Trigram.example()],
        crossed=[Trigram.example(), Trigram.example()],
        margin=1.5,
    )

    source: TokenOut
    intended: list[Trigram]
    crossed: list[Trigram] = Field(description="What the head must raise too, whether it is meant or not.")
    margin: float = Field(description="How much more likely the bigrams find the intended pairs, nats.")


class CrossedOut(Schema):
    model_config = example(
        model="headscope-2l",
        layer=1,
        head=5,
        weight_processing="folded",
        found=[CrossedPairs.example()],
        chosen=True,
        limits=["Learned positions are added to the tokens."],
    )

    model: str
    layer: int
    head: int
    weight_processing: Processing
    found: list[CrossedPairs]
    chosen: bool = Field(description="Whether the pairs were asked for, or looked for.")
    limits: list[str]


class VirtualIn(CircuitIn):
    model_config = example(model="headscope-2l", writer="0.3", reader="1.5 k")

    writer: str = Field(max_length=24, description="embed, position, a head 3.5, or mlp 3.")
    reader: str = Field(max_length=24, description="unembed, mlp 3, or a head's 3.5 q, 3.5 k, 3.5 v.")
    top: int = Field(default=4, ge=1, le=32, description="Singular directions.")
    tokens: int = Field(default=8, ge=1, le=50, description="Tokens named on either side of a direction.")


class Weighed(Schema):
    model_config = example(token=TokenOut.example(), value=0.31)

    token: TokenOut
    value: float


class Direction(Schema):
    """What the writer takes in along this direction, and what the reader makes of it. Empty lists: that side
    is no tokens (positions, neurons). Signs of both sides may be turned together.
    """

    model_config = example(
        value=3.2, left_high=[Weighed.example()], left_low=[], right_high=[Weighed.example()], right_low=[]
    )

    value: float
    left_high: list[Weighed]
    left_low: list[Weighed]
    right_high: list[Weighed]
    right_low: list[Weighed]


class VirtualOut(Schema):
    model_config = example(
        model="headscope-2l",
        writer="0.3",
        reader="1.5 k",
        weight_processing="folded",
        left="reads",
        right="reads",
        norm=1.9,
        share=0.22,
        random=0.088,
        directions=[Direction.example()],
        limits=["Learned positions are added to the tokens."],
    )

    model: str
    writer: str
    reader: str
    weight_processing: Processing
    left: Literal["tokens", "positions", "neurons", "reads", "writes"]
    right: Literal["tokens", "positions", "neurons", "reads", "writes"]
    norm: float
    share: float | None = Field(description="Norm over the norms of both halves, from 0 to 1.")
    random: float = Field(description="About what random matrices would share: 1 / sqrt(width).")
    directions: list[Direction]
    limits: list[str]


class TokenSearchIn(AboutModel):
    model_config = example(model="headscope-2l", text="cat", top=20)

    text: str = Field(min_length=1, max_length=200)
    top: int = Field(default=20, ge=1, le=MOST_CELLS)


class TokenSearchOut(Schema):
    """Tokens of the vocabulary: first those that the text itself is cut into, then those that contain it."""

    model_config = example(
        model="headscope-2l", spelled=[TokenOut.example()], containing=[TokenOut.example()], n_containing=1
    )

    model: str
    spelled: list[TokenOut]
    containing: list[TokenOut]
    n_containing: int
