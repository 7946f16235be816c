"""What estimates say of arithmetic."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from analyses.circuit_runs import two_layer
from analyses.specs import LARGE, SMALL
from headscope.analyses.costing import CPU_THROUGHPUT, cpu_throughput, pass_flop, tflop
from headscope.analyses.patch_effects import patched_flop
from headscope.core.model.cost import CPU_BUDGET, forward_flop
from headscope.core.model.memory import activation_bytes, pass_bytes, weight_bytes


@pytest.mark.parametrize(
    ("flop", "words"),
    [
        (5.75e9, "0.00575 TFLOP"),
        (23.94e12, "23.9 TFLOP"),
        (99.6e12, "99.6 TFLOP"),
        (1.034e16, "10,340 TFLOP"),
    ],
)
def test_arithmetic_is_said_in_digits_however_much_it_is(flop: float, words: str) -> None:
    assert tflop(flop) == words


def counted(tokens: int) -> float:
    """FLOP of a pass of the bundled model that reads every pattern and every token's loss, by PyTorch."""
    model = two_layer()
    ids = torch.arange(tokens)[None] % model.info.d_vocab
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model.losses(ids)
    return float(counter.get_total_flops())


@pytest.mark.parametrize("tokens", [16, 64, 200])
def test_a_pass_costs_what_pytorch_counts(tokens: int) -> None:
    assert pass_flop(two_layer().info, tokens) == pytest.approx(counted(tokens), rel=0.03)


def test_attention_grows_with_the_square_of_the_tokens_and_all_else_with_them() -> None:
    once, twice = (pass_flop(LARGE, tokens) - forward_flop(LARGE, tokens, tokens) for tokens in (100, 200))
    assert twice == pytest.approx(4 * once)
    assert forward_flop(LARGE, 200, 200) == pytest.approx(2 * forward_flop(LARGE, 100, 100))
    assert forward_flop(LARGE, 100, 0) == pytest.approx(200.0 * LARGE.n_params_non_embedding)


def test_double_precision_is_half_as_fast_and_takes_twice_the_room() -> None:
    assert cpu_throughput("float64") == cpu_throughput("float32") / 2 == CPU_THROUGHPUT / 2
    single, double = (replace(SMALL, dtype=dtype) for dtype in ("float32", "float64"))
    assert weight_bytes(double) == 2 * weight_bytes(single)
    assert pass_bytes(double, 50) > pass_bytes(single, 50)


def test_patching_every_head_is_a_pass_and_half_of_one_a_head() -> None:
    heads = LARGE.n_layers * LARGE.n_heads
    one = forward_flop(LARGE, 1, 0) / 2 + forward_flop(LARGE, 0, 1)
    assert patched_flop(LARGE, 90, 1) == pytest.approx(forward_flop(LARGE, 90, 1) + heads * one)
    assert patched_flop(LARGE, 90, 8) > patched_flop(LARGE, 90, 1)


def test_a_budget_is_shared_by_whichever_runs_out_first() -> None:
    first = set()
    for model in (SMALL, LARGE):
        parts = {
            "flop": forward_flop(model, 30, 1) / CPU_BUDGET.flop,
            "bytes": activation_bytes(model, 30, 1) / CPU_BUDGET.bytes,
        }
        assert CPU_BUDGET.share(model, 30, 1) == max(parts.values())
        first.add(max(parts, key=lambda name: parts[name]))
    assert first == {"flop", "bytes"}
