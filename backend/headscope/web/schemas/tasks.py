"""Tasks and their examples, in the API's words."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from headscope.messages.base import REVISION, Schema, TokenOut, example


class TaskOut(Schema):
    model_config = example(
        name="singular-plural",
        title="Singular to plural",
        description="Give the plural of a noun.",
        kind="text",
        origin="built-in",
        source="https://github.com/ericwtodd/function_vectors",
        licence="MIT",
        n_rows=205,
        unused="",
        content_hash=REVISION,
        template="Q: {prompt}\nA: {target}",
        shots=5,
        targets="Every token of the target.",
        judged="top",
        instruction='The plural of "{prompt}" is "{target}',
        form_of="",
    )

    name: str
    title: str
    description: str
    kind: Literal["text", "generated"]
    origin: Literal["built-in", "yours"]
    source: str
    licence: str
    n_rows: int | None
    unused: str = Field(
        description="How many rows aren't used and why, in words: the same prompt counts once. Empty where "
        "all are."
    )
    content_hash: str
    template: str | None
    shots: int
    targets: str = Field(description="Which tokens carry loss, in words.")
    judged: Literal["top", "each", "pair"] = Field(
        description="Right where all target tokens are most likely (top), by the share that are (each), "
        "or where the target is likelier than the counterfactual (pair)."
    )
    instruction: str = Field(description="What its instruction form asks in words; empty where it has none.")
    form_of: str = Field(description="The task whose instruction form this is; empty where it is none.")


class ExampleOut(Schema):
    model_config = example(tokens=[TokenOut.example()], targets=[0], counterfactual=None)

    tokens: list[TokenOut]
    targets: list[int]
    counterfactual: list[TokenOut] | None


class TaskExamplesOut(Schema):
    model_config = example(
        task="singular-plural",
        model="headscope-2l",
        split="train",
        n_train=164,
        n_test=41,
        n_left_out=0,
        examples=[ExampleOut.example()],
    )

    task: str
    model: str
    split: Literal["train", "test"]
    n_train: int
    n_test: int
    n_left_out: int = Field(
        description="Rows before the last example that are longer than the model's context."
    )
    examples: list[ExampleOut]
