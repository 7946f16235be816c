"""Well-known models that can be added, in the API's words."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from headscope.messages.base import Schema, example


class KnownModelOut(Schema):
    model_config = example(
        name="openai-community/gpt2",
        title="GPT-2 small",
        summary="The model of the first published circuits.",
        licence="MIT",
        gated=False,
        n_params=124439808,
        n_layers=12,
        n_heads=12,
        n_kv_heads=12,
        n_ctx=1024,
        bytes_to_download=548000000,
        memory_float32=1226000000,
        memory_bfloat16=928000000,
        fits="float32",
        here=False,
        command="headscope models fetch openai-community/gpt2",
    )

    name: str = Field(description="Its name on the Hugging Face hub.")
    title: str
    summary: str
    licence: str
    gated: bool = Field(description="Whether its terms must be accepted on the hub first.")
    n_params: int
    n_layers: int
    n_heads: int
    n_kv_heads: int
    n_ctx: int
    bytes_to_download: int
    memory_float32: int = Field(description="Bytes that a worker takes with it loaded, and room for a pass.")
    memory_bfloat16: int
    fits: Literal["float32", "bfloat16", "no"] | None = Field(
        description="In which precision it has room here, float32 first; null where no worker is alive."
    )
    here: bool = Field(description="Whether its weights are here already.")
    command: str = Field(description="What the operator runs to have it here.")


class KnownModelsOut(Schema):
    model_config = example(
        models=[KnownModelOut.example()],
        memory_bytes=25769803776,
        why="Models are added by whoever runs the server.",
    )

    models: list[KnownModelOut]
    memory_bytes: int | None = Field(description="Memory of the largest device among the live workers.")
    why: str = Field(description="Why a page can't fetch or read a model itself.")
