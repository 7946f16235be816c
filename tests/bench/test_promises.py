"""What Headscope promises in seconds, measured on this machine: ``make bench`` prints the figures.

Not part of ``make test``: on a busy machine a clock says little about the program.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.bench import Bench
from services.server import Server

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bench")


def headscope(data_dir: Path, *words: str) -> float:
    """Seconds that a command takes, from its start to its end."""
    started = time.monotonic()
    environment = {**os.environ, "HEADSCOPE_DATA_DIR": str(data_dir)}
    subprocess.run([sys.executable, "-m", "headscope", *words], env=environment, check=True)
    return time.monotonic() - started


def test_the_web_application_imports_without_torch(data_dir: Path, bench: Bench) -> None:
    code = "import sys, headscope.web.app; sys.exit('torch' in sys.modules)"
    took = []
    for _ in range(3):
        started = time.monotonic()
        subprocess.run([sys.executable, "-c", code], check=True)
        took.append(time.monotonic() - started)
    bench.at_most("import headscope.web.app", min(took), 1.5)


def test_help(data_dir: Path, bench: Bench) -> None:
    bench.at_most("headscope --help", min(headscope(data_dir, "--help") for _ in range(3)), 1.0)


@pytest.fixture(scope="module")
def server(data_dir: Path) -> Iterator[Server]:
    running = Server(data_dir)
    yield running
    running.stop()


def test_the_first_page_after_the_start_line(server: Server, bench: Bench) -> None:
    started = time.monotonic()
    assert httpx.get(server.url).status_code == 200
    runs = httpx.get(f"{server.url}/api/v1/runs", params={"status": "done", "analysis": "chg"}).json()["runs"]
    assert httpx.get(f"{server.url}/api/v1/runs/{runs[0]['id']}/figures/roles").status_code == 200
    bench.at_most("page, list and first figure after the start line", time.monotonic() - started, 2.0)
    print(f"start line {server.started_in:.2f} s after the command")


def test_a_quick_run_of_the_small_model(data_dir: Path, bench: Bench) -> None:
    result = data_dir / "induction.json"
    words = ("run", "chg", "--model", "headscope-2l", "--task", "induction", "--preset", "quick")
    bench.at_most("headscope-2l, induction, quick", headscope(data_dir, *words, "--json", str(result)), 60)


def test_a_quick_run_of_smollm2(data_dir: Path, bench: Bench) -> None:
    bench.at_most("fetching smollm2-135m", headscope(data_dir, "models", "fetch", "smollm2-135m"), 300)
    result = data_dir / "plural.json"
    words = ("run", "chg", "--model", "smollm2-135m", "--task", "singular-plural", "--preset", "quick")
    took = headscope(data_dir, *words, "--param", "seeds=3", "--json", str(result))
    values = accuracy(json.loads(result.read_text(encoding="utf-8")))
    print(f"held-out accuracy ungated {values['ungated']:.2f}, under G+ {values['plus']:.2f}")
    gain = values["plus"] - values["ungated"]
    bench.at_least("smollm2-135m, singular-plural: held-out accuracy gained under G+", gain, 0.0, "share")
    bench.at_most("smollm2-135m, singular-plural, quick, three seeds", took, 360)


def accuracy(result: dict[str, Any]) -> dict[str, float]:
    """Mean held-out accuracy by condition."""
    from headscope.core.arrays import decode

    means = decode(result["heldout_accuracy"]).mean(axis=1)
    return dict(zip(("ungated", "zero", "plus", "minus"), map(float, means), strict=True))
