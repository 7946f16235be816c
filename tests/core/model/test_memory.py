"""What work takes in memory: the figures of estimates and refusals, and what they are made of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from headscope.core.model.info import ModelInfo
from headscope.core.model.memory import (
    AT_MOST,
    PROGRAM_BYTES,
    pass_bytes,
    run_bytes,
    unembedding_bytes,
    weight_bytes,
)

TWO_LAYER = ModelInfo(
    name="headscope-2l",
    revision="",
    architecture="HeadscopeAttentionOnly",
    n_layers=2,
    n_heads=8,
    n_kv_heads=8,
    d_model=128,
    d_head=32,
    d_vocab=512,
    n_ctx=256,
    n_params=428_544,
    n_params_non_embedding=264_704,
    dtype="float32",
    weight_processing="none",
    tokenizer_hash="",
    bos=True,
)
SMOLLM2 = ModelInfo(
    name="smollm2-135m",
    revision="",
    architecture="LlamaForCausalLM",
    n_layers=30,
    n_heads=9,
    n_kv_heads=3,
    d_model=576,
    d_head=64,
    d_vocab=49_152,
    n_ctx=8192,
    n_params=134_515_008,
    n_params_non_embedding=106_203_456,
    dtype="float32",
    weight_processing="none",
    tokenizer_hash="",
    bos=False,
)


@pytest.mark.parametrize(
    ("info", "dtype", "n_tokens", "expected"),
    [
        (TWO_LAYER, "float32", 17, 201_824),
        (TWO_LAYER, "bfloat16", 17, 132_192),
        (TWO_LAYER, "float64", 17, 368_832),
        (SMOLLM2, "float32", 20.5, 8_673_099),
        (SMOLLM2, "bfloat16", 200, 66_067_200),
        (SMOLLM2, "float64", 200, 137_664_000),
    ],
)
def test_a_pass_as_estimates_expect_it(info: ModelInfo, dtype: str, n_tokens: float, expected: float) -> None:
    assert pass_bytes(replace(info, dtype=dtype), n_tokens) == expected


@pytest.mark.parametrize(
    ("info", "n_tokens", "patterns", "logits", "expected"),
    [
        (TWO_LAYER, 17, False, 0, 348_160),
        (TWO_LAYER, 17, False, 1, 382_976),
        (TWO_LAYER, 17, True, 1, 429_216),
        (SMOLLM2, 200, False, 0, 18_432_000),
        (SMOLLM2, 200, False, 1, 57_753_600),
        (SMOLLM2, 200, True, 1, 64_953_600),
    ],
)
def test_a_pass_at_most(info: ModelInfo, n_tokens: int, patterns: bool, logits: int, expected: int) -> None:
    assert pass_bytes(info, n_tokens, AT_MOST, patterns=patterns, logits=logits) == expected


def test_a_run_is_the_program_its_weights_and_its_work() -> None:
    assert run_bytes(SMOLLM2, 2 * 512 * 2**20) == 2_240_947_456
    assert run_bytes(TWO_LAYER) == PROGRAM_BYTES + weight_bytes(TWO_LAYER)
    assert run_bytes(TWO_LAYER, 0.9) == run_bytes(TWO_LAYER)


def test_weights_are_held_in_their_precision() -> None:
    assert weight_bytes(SMOLLM2) == 538_060_032
    assert (
        weight_bytes(SMOLLM2, "bfloat16") == 269_030_016 == weight_bytes(replace(SMOLLM2, dtype="bfloat16"))
    )


def test_a_look_up_holds_three_unembeddings() -> None:
    assert unembedding_bytes(TWO_LAYER) == 786_432
    assert unembedding_bytes(SMOLLM2) == 339_738_624
