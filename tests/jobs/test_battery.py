"""A battery of prompts by workers as real processes: followed, killed in the middle, gone on with."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select

from headscope.analyses.request import Request, resolve
from headscope.jobs.engine import run_foreground
from headscope.models.catalogue import Catalogue
from headscope.store import prompts, runs
from headscope.store.tables import PieceRow
from headscope.tasks.prompts import prompt_set
from jobs.conftest import Bench, environment

TEXTS = [f"the cat {number} sat, the cat {number} ran and the cat {number} sat" for number in range(1100)]
"""Three blocks of up to 500 prompts."""


@pytest.fixture
def request_for(sqlite_bench: Bench) -> Request:
    with sqlite_bench.store.session() as session:
        kept = prompts.add(session, prompt_set(TEXTS)).row.id
    model = Catalogue(sqlite_bench.settings).info("headscope-2l")
    return resolve("battery", model, None, None, {"prompts": kept})


@pytest.fixture
def workers(sqlite_bench: Bench) -> Iterator[list[subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.wait(10)


def worker(bench: Bench) -> subprocess.Popen[bytes]:
    """A worker of the shipped analyses and models, with the bench's patience."""
    program = (
        "import sys\n"
        "from headscope.settings import Settings\n"
        "from headscope.worker.main import run\n"
        "run(Settings.model_validate_json(sys.argv[1]))\n"
    )
    with (bench.settings.data_dir / "worker.log").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-c", program, bench.settings.model_dump_json()],
            env=environment(), stdout=log, stderr=log,
        )  # fmt: skip


def kept_pieces(bench: Bench, run_id: str) -> Mapping[str, object]:
    """When each piece was kept."""
    with bench.store.session() as session:
        rows = session.scalars(select(PieceRow).where(PieceRow.run_id == run_id))
        return {row.key: row.created_at for row in rows}


def test_a_killed_workers_battery_goes_on_behind_its_last_piece(
    sqlite_bench: Bench, request_for: Request, workers: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    bench, run_id = sqlite_bench, request_for.id
    workers.append(worker(bench))
    bench.client.start(request_for, "cpu")
    bench.until(lambda: "prompts/0-499" in kept_pieces(bench, run_id), 120)
    workers[0].kill()
    workers[0].wait(10)
    before = kept_pieces(bench, run_id)
    assert bench.run(run_id).status == "running", "it was killed too late to test anything"
    assert "prompts/1000-1099" not in before

    workers.append(worker(bench))
    bench.until(
        lambda: "prompts/1000-1099" in kept_pieces(bench, run_id) or not bench.run(run_id).active, 120
    )
    after = kept_pieces(bench, run_id)
    assert {key: after.get(key, then) for key, then in before.items()} == before
    bench.until_status(run_id, "done", 120)

    alone = Bench(bench.settings.model_copy(update={"data_dir": tmp_path / "alone"}))
    try:
        with alone.store.session() as session:
            prompts.add(session, prompt_set(TEXTS))
            runs.create_or_get(session, request_for, queue=None)
        run_foreground(alone.store, run_id, Catalogue(alone.settings), settings=alone.settings)
        with bench.store.session() as session, alone.store.session() as other:
            found, expected = runs.result(session, run_id), runs.result(other, run_id)
    finally:
        alone.close()
    assert len(found.arrays["loss"]) == len(TEXTS)
    for name, array in expected.arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array, err_msg=name)
