"""What an estimate says of a fit's memory against the most that its process held: ``headscope run chg``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headscope.analyses.base import Spec
from headscope.analyses.chg.estimate import estimate
from headscope.analyses.chg.schema import ChgParams
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.tasks.catalogue import TaskCatalogue
from models.test_smollm2 import folder  # noqa: F401
from services.bench import Bench

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1200)]

OFF = 0.25


@pytest.fixture(scope="module")
def data(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: F811
    data = tmp_path_factory.mktemp("memory")
    (data / "models").mkdir()
    (data / "models" / "smollm2-135m").symlink_to(folder)
    return data


@pytest.mark.parametrize(
    ("model", "task", "seeds", "batch"),
    [
        ("headscope-2l", "induction", 1, 8),
        ("headscope-2l", "induction", 10, 64),
        ("smollm2-135m", "singular-plural", 1, 4),
        ("smollm2-135m", "singular-plural", 2, 64),
        ("smollm2-135m", "commonsense-qa", 1, 8),
        ("smollm2-135m", "gsm8k", 1, 2),
    ],
)
def test_an_estimate_is_near_the_measured_peak(
    data: Path, bench: Bench, model: str, task: str, seeds: int, batch: int
) -> None:
    asked = {"seeds": seeds, "batch_size": batch, "steps": 1, "n_test": 16}
    models = Catalogue(Settings(data_dir=data))
    spec = Spec(ChgParams.model_validate(asked), models.info(model), TaskCatalogue([]).get(task))
    said = estimate(spec, tokenizer=models.tokenizer(model))
    measured = peak_of_run(data, model, task, asked)
    name = f"memory of chg, {model} x {task}, {seeds} seeds x {batch}"
    bench.noted(f"{name}: measured", measured / 2**20, "MiB")
    bench.at_most(f"{name}: estimate off by", abs(said.peak_bytes / measured - 1), OFF, "of it")


_TOLD_AT_THE_END = """
import atexit, pathlib, runpy
status = pathlib.Path("/proc/self/status")
peak = lambda: next(line.split()[1] for line in status.read_text().splitlines() if "VmHWM" in line)
atexit.register(lambda: print(peak()))
runpy.run_module("headscope", run_name="__main__")
"""


def peak_of_run(data: Path, model: str, task: str, asked: dict[str, int]) -> int:
    """Bytes that the command's process held at most, as it tells itself (Linux): what its parent is told of
    it counts the parent's own peak, before the exec, too.
    """
    words = [sys.executable, "-c", _TOLD_AT_THE_END, "run", "chg", "--model", model, "--task", task]
    for name, value in asked.items():
        words += ["--param", f"{name}={value}"]
    environment = {**os.environ, "HEADSCOPE_DATA_DIR": str(data), "HEADSCOPE_DEVICE": "cpu"}
    told = subprocess.check_output(words, env=environment, text=True)
    return int(told.split()[-1]) * 1024
