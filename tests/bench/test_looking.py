"""What looking at a prompt costs: all heads of smollm2-135m at 64 tokens, and at 2,048."""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from headscope.core.model.head_model import HeadModel
from headscope.core.model.load import load_model
from headscope.core.patterns.reading import look
from headscope.core.patterns.repeats import copies
from headscope.errors import Unavailable
from headscope.messages import LookIn, PatternsIn
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.worker.lab import look as lab_look
from headscope.worker.lab import patterns as lab_patterns
from headscope.worker.lab.prompt import read
from headscope.worker.lab.repeats import RepeatScores
from services.bench import Bench

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1200)]

NAME = "smollm2-135m"
DATA = Path(__file__).parents[2] / "build" / "test-data"
TEXT = (
    "The old wizard Zorblax met a dragon by the river. Years later, nobody remembered the dragon, but the "
    "wizard Zorblax did. He wrote of it in a book that he hid beneath the oldest bridge of the town. "
)


@pytest.fixture(scope="module")
def model() -> HeadModel:
    try:
        folder = Catalogue(Settings(data_dir=DATA)).fetch(NAME)
    except Unavailable as error:
        if error.code != "download-failed":
            raise
        pytest.skip(str(error))
    return load_model(folder, name=NAME, device="cpu")


def prompt(model: HeadModel, n: int) -> str:
    """A text of exactly ``n`` tokens."""
    tokens = model.tokenizer.tokens(TEXT * (n // 20 + 1))[:n]
    text = b"".join(token.bytes for token in tokens).decode()
    assert len(model.tokenizer.encode(text)) == n
    return text


def best(work: Callable[[], object], times: int = 7) -> float:
    took = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        took.append(time.perf_counter() - started)
    return min(took)


def peak_over_rest(work: Callable[[], object]) -> float:
    """GB that the process's peak memory rises above what it holds, the model included."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = _status("VmRSS")
    work()
    return (_status("VmHWM") - before) / 1e6


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1])


def test_all_heads_at_64_tokens(model: HeadModel, bench: Bench) -> None:
    text = prompt(model, 64)
    tokens = model.tokenizer.tokens(text)
    ids, before = [token.id for token in tokens], copies(tokens)
    batch = torch.tensor([ids])
    with torch.no_grad():
        model.logits(batch)
        look(model, ids, before)
        pairs = [
            (best(lambda: model.logits(batch), 1), best(lambda: look(model, ids, before), 1))
            for _ in range(9)
        ]
    bare, looking = (min(column) for column in zip(*pairs, strict=True))
    bench.at_most("patterns and scores of 270 heads, 64 tokens", looking, 1.0)
    bench.at_most("patterns and scores over a bare pass, 64 tokens", 100 * (looking / bare - 1), 25, "%")
    wanted = LookIn(model=NAME, text=text)
    answer = lab_look.plan(model, read(model, wanted), wanted, RepeatScores()).run()
    size = len(answer.model_dump_json())
    bench.at_most("a look at 270 heads as it travels, 64 tokens", size / 1e6, 1.0, "MB")


def test_all_heads_at_2048_tokens(model: HeadModel, bench: Bench) -> None:
    text = prompt(model, 2048)
    wanted = LookIn(model=NAME, text=text)
    look_plan = lab_look.plan(model, read(model, wanted), wanted, RepeatScores())
    peak = peak_over_rest(look_plan.run)
    bench.at_most("memory over the model, all heads' scores at 2,048 tokens", peak, 2.0, "GB")
    assert peak <= look_plan.n_bytes(2048) / 1e9 * 1.1, "the estimate that admits it is too low"
    one = PatternsIn(model=NAME, text=text, layers=[17], compact=True)
    patterns_plan = lab_patterns.plan(model, read(model, one), one)
    peak = peak_over_rest(patterns_plan.run)
    bench.at_most("memory over the model, one layer's patterns at 2,048 tokens", peak, 2.0, "GB")
    print(f"one layer's patterns: {len(patterns_plan.run().model_dump_json()) / 1e6:.2f} MB")
