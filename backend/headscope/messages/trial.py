"""A config.json tried before its weights are downloaded."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from headscope.messages.base import AboutModel, Schema, example
from headscope.messages.proof import CapabilityOut

LONGEST_CONFIG: Final = 400_000
"""Characters; the longest published ones list a scale for each of some thousand layers."""


class TrialIn(AboutModel):
    model_config = example(config='{"architectures": ["LlamaForCausalLM"], "model_type": "llama"}')

    model: str = Field(default="", description="Of no account: the configuration is what is tried.")
    config: str = Field(max_length=LONGEST_CONFIG, description="The content of config.json.")


class TrialOut(Schema):
    """What a configuration describes, and what is expected of its heads; nothing is kept."""

    model_config = example(
        architecture="LlamaForCausalLM",
        n_layers=16,
        n_heads=32,
        n_kv_heads=8,
        d_head=64,
        d_model=2048,
        d_vocab=128256,
        n_ctx=131072,
        n_params=1235814400,
        memory_float32=6560000000,
        memory_bfloat16=3600000000,
        fits="float32",
        quantised="",
        expected=[CapabilityOut.example()],
    )

    architecture: str
    n_layers: int
    n_heads: int = Field(description="Query heads of a layer.")
    n_kv_heads: int
    d_head: int
    d_model: int
    d_vocab: int
    n_ctx: int
    n_params: int
    memory_float32: int = Field(description="Bytes that a worker takes with it loaded, and room for a pass.")
    memory_bfloat16: int
    fits: Literal["float32", "bfloat16", "no"] | None = Field(
        description="In which precision it has room on the worker's device, float32 first."
    )
    quantised: str = Field(description="How its weights are stored in fewer bits; empty where they aren't.")
    expected: list[CapabilityOut] = Field(
        description="As a small model of the same configuration has them, with random weights."
    )
