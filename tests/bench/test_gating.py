"""How fast gates are fitted: a plain implementation against Headscope's, one schedule, one run.

On smollm2-135m and singular-plural, batch 16: (a) ``PlainFit``, (b) ``advance``. Ten updates of each, turn by
turn, since a machine's mood changes; medians, times the updates of the schedule. Beside each turn the matrix
peak is measured: the best large product in the model's shapes. A step's share of it counts 4 x non-embedding
parameters x tokens of the rows, whatever was not computed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from bench.plain_gating import PlainFit
from headscope.analyses.chg.schema import ChgParams
from headscope.core.gating.batch_order import batches
from headscope.core.gating.fit import FitState, Phase, advance, initial_logits, loss_and_gradient
from headscope.core.model.head_model import HeadModel
from headscope.core.model.load import load_model
from headscope.tasks.catalogue import TaskCatalogue
from headscope.tasks.task import Examples
from models.test_smollm2 import folder  # noqa: F401
from services.bench import Bench

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]

TURNS, BATCH, SEED = 10, 16, 0
UPDATES = 3 * ChgParams().steps
FASTER = {"float32": 1.3, "bfloat16": 2.2}
SHARE = {"float32": 0.60, "bfloat16": 0.55}


@dataclass(frozen=True)
class Turns:
    """Seconds of an update of each, turn by turn; ours as a share of the matrix peak."""

    plain: list[float]
    ours: list[float]
    share: list[float]


@pytest.fixture(scope="module")
def models(folder: Path) -> Callable[[str], HeadModel]:  # noqa: F811
    return lambda dtype: load_model(folder, name="smollm2-135m", dtype=dtype, device="cpu")


@pytest.fixture(scope="module")
def examples(models: Callable[[str], HeadModel]) -> Examples:
    model = models("float32")
    task = TaskCatalogue([]).get("singular-plural")
    return task.examples(
        model.tokenizer, "train", limit=None, seed=0, shots=None, n_ctx=model.info.n_ctx
    )  # fmt: skip


def test_both_find_the_same_loss_and_gradient(
    folder: Path,  # noqa: F811
    models: Callable[[str], HeadModel],
    examples: Examples,
) -> None:
    model = models("float32")
    logits = initial_logits([SEED], model.info.n_layers, model.info.n_heads)
    drawn = next(batches(SEED, "zero", len(examples), BATCH))
    loss, gradient = loss_and_gradient(model, examples, [(0, index) for index in drawn], logits)
    plain = PlainFit(folder, logits[0])
    expected = plain.loss([examples[index] for index in drawn])
    expected.backward()
    assert plain.logits.grad is not None
    assert loss.item() == pytest.approx(expected.item(), rel=1e-5)
    difference = (gradient[0] - plain.logits.grad).norm() / plain.logits.grad.norm()
    assert difference < 2e-4, "more than float32 rounds off in 30 layers"


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_an_update_against_the_plain_one(
    folder: Path,  # noqa: F811
    models: Callable[[str], HeadModel],
    examples: Examples,
    bench: Bench,
    dtype: str,
) -> None:
    name = f"chg smollm2-135m x singular-plural, batch {BATCH}, {dtype}"
    if dtype == "bfloat16" and not has_bfloat16_units():
        bench.skipped(name, reason := "this CPU multiplies no bfloat16 matrices")
        pytest.skip(reason)
    found = take_turns(folder, models(dtype), examples)
    plain, ours = (UPDATES * statistics.median(seconds) / 60 for seconds in (found.plain, found.ours))
    bench.noted(f"{name}: (a) plain, float32, minutes a seed", plain, "min")
    bench.noted(f"{name}: (b) ours, minutes a seed", ours, "min")
    bench.at_least(f"{name}: (a) over (b)", plain / ours, FASTER[dtype], "x")
    bench.at_least(f"{name}: share of the matrix peak", statistics.median(found.share), SHARE[dtype], "")


def take_turns(folder: Path, model: HeadModel, examples: Examples) -> Turns:  # noqa: F811
    logits = initial_logits([SEED], model.info.n_layers, model.info.n_heads)
    state, plain = FitState.fresh(logits), PlainFit(folder, logits[0])
    phase = Phase(TURNS + 1, 0.0, 0.1, 0.01, BATCH)
    draw = batches(SEED, phase.stream, len(examples), BATCH)
    turns = Turns([], [], [])
    for turn in range(TURNS + 1):  # the first one warms up
        rows = [examples[index] for index in next(draw)]
        peak = matrix_peak(model)
        started = time.perf_counter()
        plain.update(rows)
        plain_seconds = time.perf_counter() - started
        started = time.perf_counter()
        state = advance(model, examples, [SEED], phase, state, turn + 1)
        took = time.perf_counter() - started
        if turn:
            tokens = sum(len(row.tokens) for row in rows)
            turns.plain.append(plain_seconds)
            turns.ours.append(took)
            turns.share.append(4 * model.info.n_params_non_embedding * tokens / took / peak)
    return turns


def matrix_peak(model: HeadModel, rows: int = 1024) -> float:
    """FLOP/s of the best large product in the shapes of the model's own matrices."""
    parts = model.parts.blocks[0].modules()
    shapes = {tuple(m.weight.shape) for m in parts if isinstance(m, torch.nn.Linear)}
    return max(2 * rows * n * k / product_seconds(rows, n, k, model.dtype) for n, k in shapes)


def product_seconds(rows: int, n: int, k: int, dtype: torch.dtype) -> float:
    """Seconds a product takes, over many: as long as a pass, so that other programs take of both alike."""
    left, right = torch.ones(rows, k, dtype=dtype), torch.ones(n, k, dtype=dtype)
    many = max(1, int(20e9 / (2 * rows * n * k)))
    return seconds(lambda: [torch.nn.functional.linear(left, right) for _ in range(many)]) / many


def seconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def has_bfloat16_units() -> bool:
    """Whether the CPU multiplies bfloat16 matrices faster than by widening them."""
    try:
        flags: Sequence[str] = Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return False
    return "avx512_bf16" in flags or "amx_bf16" in flags
