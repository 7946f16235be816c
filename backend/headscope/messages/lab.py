"""Heads on someone's own prompt: what the lab asks a worker, and what it answers.

A prompt is a text or the id of a stored one. Positions are token indices, the BOS token included. Losses,
log-probabilities and divergences are in nats. Gates are [layers, heads] in [0, 1].
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field, model_validator

from headscope.messages.base import AboutModel, Schema, TokenOut, TypedArray, example

MAX_TEXT: Final = 400_000
"""Characters of a prompt; no model's context holds as many."""

Gates = TypedArray | list[list[float]]

Ablation = Literal["zero", "mean", "resample", "counterfactual"]
"""What closed heads give; as ``core.gating.ablation`` has it."""


class Closing(Schema):
    """What closed heads give on a prompt."""

    ablation: Literal["zero", "mean", "resample"] = Field(
        default="zero",
        description="What closed heads give: nothing; their mean over the reference task's rows, first "
        "tokens apart; or what they give in one of its rows, position by position.",
    )
    reference: str | None = Field(
        default=None, max_length=200, description="The task whose rows closed heads' output is taken from."
    )


class LabIn(AboutModel):
    model_config = example(model="headscope-2l", text="the cat sat on the cat", bos=None)

    text: str | None = Field(default=None, max_length=MAX_TEXT)
    prompt: str | None = Field(
        default=None, max_length=64, description="A stored prompt's id, in place of the text."
    )
    row: int = Field(default=0, ge=0, description="Which prompt of a stored batch.")
    bos: bool | None = Field(
        default=None, description="Put a BOS token first; the tokenizer's own policy where unset."
    )
    wait: float = Field(
        default=20,
        ge=0,
        le=60,
        description="Seconds to wait for a model that is being loaded; then 503 `model-loading`.",
    )
    board: str | None = Field(
        default=None,
        max_length=64,
        description="Any name of the page's own. Of what one board asks of one route only the newest is "
        "computed: older requests that still wait get 409 `superseded`.",
    )
    turn: int = Field(default=0, ge=0, le=2**53, description="Counts a board's requests, upwards.")

    @model_validator(mode="after")
    def _one_prompt(self) -> LabIn:
        if (self.text is None) == (self.prompt is None):
            raise ValueError("send either text or prompt")
        return self


class PatternsIn(LabIn):
    model_config = example(**LabIn.example(), layers=[1])

    layers: list[int] | None = Field(default=None, description="All layers where unset.")
    weighted: bool = Field(
        default=False, description="Weigh each key by the norm of its value vector; rows sum to 1 again."
    )
    compact: bool = Field(
        default=False, description="Quantised, and of long prompts only the largest keys of a row."
    )


class TopKeys(Schema):
    """A long prompt's patterns: of each row its largest keys, the largest first."""

    model_config = example(
        keys=TypedArray(dtype="u2", shape="1, 1, 1, 1", bdata="AAA="),
        weights=TypedArray(dtype="u1", shape="1, 1, 1, 1", bdata="/w=="),
        rest=TypedArray(dtype="f4", shape="1, 1, 1", bdata="AAAAAA=="),
    )

    keys: TypedArray = Field(description="[layers, heads, query, k] u2; 65535 where a row has fewer keys.")
    weights: TypedArray = Field(description="[layers, heads, query, k] u1, as in `triangle`.")
    rest: TypedArray = Field(description="[layers, heads, query] f4: the mass on all other keys.")


class PatternsOut(Schema):
    model_config = example(
        model="headscope-2l",
        tokens=[TokenOut.example()],
        layers=[1],
        patterns=TypedArray(dtype="f4", shape="1, 1, 1, 1", bdata="AACAPw=="),
    )

    model: str
    tokens: list[TokenOut]
    layers: list[int]
    patterns: TypedArray | None = Field(
        default=None,
        description="[layers, heads, query, key] f4; rows sum to 1, with `sinks`. Where not compact.",
    )
    triangle: TypedArray | None = Field(
        default=None,
        description="[layers, heads, T(T+1)/2] u1: the lower triangle, row after row; a weight "
        "is (value / 255)².",
    )
    top: TopKeys | None = None
    sinks: TypedArray | None = Field(
        default=None,
        description="[layers, heads, query] f4: the share of each row that a learned sink takes and no token "
        "gets (gpt-oss). Unset where there are none, and where `weighted`.",
    )


class LookIn(Closing, LabIn):
    model_config = example(**LabIn.example(), fold=True)

    fold: bool = Field(default=False, description="Tokens that differ in case or spaces count as the same.")
    weighted: bool = False
    gates: Gates | None = Field(default=None, description="Look at the gated model; as it is where unset.")


class ScoreOut(Schema):
    """A number per head, as in docs/analyses/induction.md."""

    model_config = example(
        name="induction",
        title="Induction",
        reading="How much a repeated token looks at what followed its earlier copy.",
        unit=None,
    )

    name: str
    title: str
    reading: str
    unit: str | None


class Thumbs(Schema):
    """Every head's pattern at a glance: exact up to `size` tokens, beyond that the largest of each block."""

    model_config = example(size=1, block=1, values=TypedArray(dtype="u1", shape="1, 1, 1", bdata="/w=="))

    size: int
    block: int = Field(description="Tokens a side of a cell.")
    values: TypedArray = Field(description="[layers, heads, size(size+1)/2] u1 as PatternsOut's `triangle`.")
    sinks: TypedArray | None = Field(
        default=None,
        description="[layers, heads, size] u1: the share of a row that a learned sink takes, as in "
        "PatternsOut, the largest of each block. Unset where there are none, and where `weighted`.",
    )


class AboveOut(Schema):
    """What a head gives its targets above what their columns get from other queries: what heads are named by.

    0 for a head that looks at one frequent token whatever the query; docs/design/patterns.md has the formula.
    """

    model_config = example(
        names=["induction"],
        values=TypedArray(dtype="f4", shape="1, 1, 1", bdata="AAAAPw=="),
        low=TypedArray(dtype="f4", shape="1, 1, 1", bdata="AACAPg=="),
        high=TypedArray(dtype="f4", shape="1, 1, 1", bdata="AABAPw=="),
        queries=[12],
        tells=[True],
        claims=TypedArray(dtype="u1", shape="1, 1, 1", bdata="Ag=="),
        claim_words=["none", "faint", "clear", "too few"],
        repeats=None,
    )

    names: list[str] = Field(description="The scores, in the order of the arrays.")
    values: TypedArray = Field(description="[scores, layers, heads] f4: means over queries; NaN without any.")
    low: TypedArray = Field(
        description="[scores, layers, heads] f4: lower ends at 95 %, by bootstrap over queries."
    )
    high: TypedArray = Field(description="[scores, layers, heads] f4: upper ends.")
    queries: list[int] = Field(description="How many queries each score is a mean of.")
    tells: list[bool] = Field(description="Whether these are enough to name a head by; else `repeats` ranks.")
    claims: TypedArray = Field(description="[scores, layers, heads] u1: a place in `claim_words`.")
    claim_words: list[str]
    repeats: TypedArray | None = Field(
        description="[scores, layers, heads] f4: the same on random tokens that repeat, of the ungated "
        "model, where some score has too few queries here."
    )


class LookOut(Schema):
    """All heads on one prompt."""

    model_config = example(
        model="headscope-2l",
        n_kv_heads=8,
        tokens=[TokenOut.example()],
        n_ctx=256,
        bos="none",
        copies=[[]],
        scores=[ScoreOut.example()],
        values=TypedArray(dtype="f4", shape="1, 1, 1", bdata="AAAAAA=="),
        above=AboveOut.example(),
        loss=TypedArray(dtype="f4", shape="1", bdata="AADAfw=="),
        loss_first=None,
        loss_repeat=None,
        sink=0.42,
        thumbs=Thumbs.example(),
    )

    model: str
    n_kv_heads: int
    tokens: list[TokenOut]
    n_ctx: int
    bos: Literal["none", "added", "in-text", "doubled"]
    copies: list[list[int]] = Field(
        description="Of each token, where it stood before, at most the latest 16; the latest last."
    )
    scores: list[ScoreOut]
    values: TypedArray = Field(description="[scores, layers, heads] f4; NaN where a prompt gives no value.")
    above: AboveOut | None = Field(
        default=None, description="Null in what shares kept before there was such a score."
    )
    loss: TypedArray = Field(description="[tokens] f4, NaN for the first, which nothing predicts.")
    loss_first: float | None = Field(description="Mean loss of tokens that stand for the first time.")
    loss_repeat: float | None = Field(
        description="Mean loss of repeats whose predecessor is a repeat too: those induction can predict."
    )
    sink: float = Field(description="Mean share of attention on the first token, over heads and queries.")
    thumbs: Thumbs


class GatesIn(Closing, LabIn):
    model_config = example(**LabIn.example(), gates=[[1.0, 0.0]], top=10, board="a1b2", turn=7)

    gates: Gates = Field(description="[layers, heads] in [0, 1].")
    top: int = Field(default=10, ge=1, le=100)
    at: int | None = Field(default=None, ge=0, description="The position that is read; the last where unset.")
    answers: list[int] = Field(
        default_factory=list, max_length=2, description="Token ids to follow; two give a logit difference."
    )


class NextToken(Schema):
    model_config = example(token=TokenOut.example(), before=0.983, after=0.055)

    token: TokenOut
    before: float
    after: float


class Answer(Schema):
    """A followed token's log-probability and rank (0 is the most likely), before and under the gates."""

    model_config = example(token=TokenOut.example(), before=-0.02, after=-2.9, rank_before=0, rank_after=3)

    token: TokenOut
    before: float
    after: float
    rank_before: int
    rank_after: int


class Change(Schema):
    model_config = example(before=4.2, after=-0.3)

    before: float
    after: float


class GatesOut(Schema):
    model_config = example(
        model="headscope-2l",
        tokens=[TokenOut.example()],
        at=0,
        next=[NextToken.example()],
        answers=[Answer.example()],
        logit_difference=None,
        loss_before=[None],
        loss_after=[None],
        kl=2.91,
    )

    model: str
    tokens: list[TokenOut]
    at: int
    next: list[NextToken]
    answers: list[Answer]
    logit_difference: Change | None = Field(description="First answer's logit minus the second's.")
    loss_before: list[float | None] = Field(
        description="Nats per token; None for the first, which nothing predicts."
    )
    loss_after: list[float | None]
    kl: float = Field(description="KL(ungated || gated) at the position, nats.")


class ContinueIn(Closing, LabIn):
    model_config = example(**LabIn.example(), gates=[[1.0, 0.0]], n_tokens=20, temperature=0.0)

    gates: Gates
    n_tokens: int = Field(default=20, ge=1, le=100)
    temperature: float = Field(default=0.0, ge=0, le=5, description="0: always the most likely token.")
    seed: int = Field(default=0, ge=0, le=2**31 - 1)


class ContinueOut(Schema):
    """What each model writes next; ends early where a model ends its text or its context is full."""

    model_config = example(
        model="headscope-2l", before=[TokenOut.example()], after=[TokenOut.example()], note=""
    )

    model: str
    before: list[TokenOut]
    after: list[TokenOut]
    note: str


class HeadAblationIn(LabIn):
    model_config = example(**LabIn.example(), layer=1, head=4)

    layer: int = Field(ge=0)
    head: int = Field(ge=0)
    fold: bool = False


class HeadAblationOut(Schema):
    """One head ablated: with every pattern held as it was, and with later heads free to respond."""

    model_config = example(
        model="headscope-2l",
        layer=1,
        head=4,
        loss=TypedArray(dtype="f4", shape="3, 1", bdata="AADAfwAAwH8AAMB/"),
        loss_repeat=[0.4, 2.1, 2.2],
    )

    model: str
    layer: int
    head: int
    loss: TypedArray = Field(description="[3, tokens] f4: as it is, patterns frozen, patterns free.")
    loss_repeat: list[float | None] = Field(description="Mean over the repeats, the same three.")
