"""Runs computed by the process that asks: followed, interrupted, killed, gone on with."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time

import pytest

from headscope.analyses.base import Progress
from headscope.errors import Cancelled, HeadscopeError
from headscope.jobs.engine import run_foreground
from headscope.store import runs
from headscope.store.tables import Run
from jobs import tiny
from jobs.conftest import Bench, environment

PROGRAM = """
import sys
from headscope.jobs import foreground
from headscope.settings import Settings
from headscope.store import runs
from headscope.store.session import open_store
from jobs import tiny

settings = Settings.model_validate_json(sys.argv[1])
foreground._PATIENCE = 2.0
store = open_store(settings)
request = tiny.request("a" * 20, pieces=4, seconds=0.6, journal=sys.argv[2])
with store.session() as session:
    runs.create_or_get(session, request, queue=None)
foreground.run_foreground(
    store, request.id, tiny.NoFolders(), settings=settings, analyses=tiny.ANALYSES, models=tiny.NoModels()
)
"""


def command_line(bench: Bench) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, bench.settings.model_dump_json(), str(bench.journal)],
        env=environment(), stderr=subprocess.DEVNULL,
    )  # fmt: skip


def foreground(bench: Bench, run_id: str, **params: object) -> list[Progress]:
    seen: list[Progress] = []
    request = tiny.request(run_id, journal=str(bench.journal), **params)
    with bench.store.session() as session:
        runs.create_or_get(session, request, queue=None)
    run_foreground(
        bench.store, run_id, tiny.NoFolders(), seen.append,
        settings=bench.settings, analyses=tiny.ANALYSES, models=tiny.NoModels(),
    )  # fmt: skip
    return seen


def finished(bench: Bench, run_id: str) -> Run:
    bench.until(lambda: not bench.run(run_id).active)
    return bench.run(run_id)


def test_a_run_is_computed_here_and_now(bench: Bench) -> None:
    seen = foreground(bench, "b" * 20, pieces=2, seconds=0.3)
    run = bench.run("b" * 20)
    assert (run.status, run.queue) == ("done", None)
    assert seen[-1].fraction > 0.8
    assert [progress.fraction for progress in seen] == sorted(progress.fraction for progress in seen)
    assert any(progress.seconds_left is not None for progress in seen)
    foreground(bench, "b" * 20, pieces=2, seconds=0.3)
    assert bench.begun() == {"p0": 1, "p1": 1}


def test_its_error_is_raised_and_recorded(sqlite_bench: Bench) -> None:
    with pytest.raises(HeadscopeError) as error:
        foreground(sqlite_bench, "c" * 20, fault="expected")
    assert (error.value.code, error.value.remedy) == ("no-room", "Make some.")
    assert sqlite_bench.run("c" * 20).status == "failed"


def test_ctrl_c_cancels_it_and_the_next_go_resumes(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    process = command_line(bench)
    bench.until(lambda: bench.begun()["p1"])
    process.send_signal(signal.SIGINT)
    process.wait(10)
    assert bench.run("a" * 20).status == "cancelled"
    foreground(bench, "a" * 20, pieces=4, seconds=0.1)
    assert bench.run("a" * 20).status == "done"
    assert bench.begun() == {"p0": 1, "p1": 2, "p2": 1, "p3": 1}


def test_a_killed_command_is_gone_on_with_by_the_next(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    process = command_line(bench)
    bench.until(lambda: bench.begun()["p1"])
    process.kill()
    process.wait(10)
    time.sleep(2.1)
    foreground(bench, "a" * 20, pieces=4, seconds=0.1)
    assert bench.begun() == {"p0": 1, "p1": 2, "p2": 1, "p3": 1}
    assert [attempt.status for attempt in bench.run("a" * 20).attempts] == ["cancelled", "done"]


def test_workers_close_the_run_of_a_killed_command(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    bench.worker()
    process = command_line(bench)
    bench.until(lambda: bench.begun()["p0"])
    process.kill()
    process.wait(10)
    run = finished(bench, "a" * 20)
    assert run.status == "cancelled"
    assert run.error is not None
    assert run.error["code"] == "interrupted"


def test_a_run_that_a_worker_computes_is_followed(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    bench.worker()
    bench.start("d" * 20, pieces=3, seconds=0.8)
    bench.until(lambda: bench.begun()["p0"])
    seen = foreground(bench, "d" * 20)
    assert seen
    assert bench.run("d" * 20).status == "done"
    assert bench.begun() == {"p0": 1, "p1": 1, "p2": 1}


def test_a_run_that_waits_for_a_worker_is_computed_here_and_no_worker_repeats_it(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    bench.start("e" * 20, pieces=3, seconds=1.0)
    thread = threading.Thread(target=lambda: foreground(bench, "e" * 20))
    thread.start()
    bench.until(lambda: bench.begun()["p0"])
    bench.worker()
    bench.start("f" * 20, pieces=1)
    thread.join(30)
    bench.until_status("e" * 20, "done")
    bench.until_status("f" * 20, "done")
    assert bench.begun() == {"p0": 2, "p1": 1, "p2": 1}


def test_it_can_be_cancelled_from_a_page(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    caught: list[BaseException] = []

    def compute() -> None:
        try:
            foreground(bench, "9" * 20, pieces=1, seconds=20)
        except Cancelled as error:
            caught.append(error)

    thread = threading.Thread(target=compute)
    thread.start()
    bench.until(lambda: bench.begun()["p0"])
    bench.client.cancel("9" * 20)
    thread.join(2.0)
    assert not thread.is_alive()
    assert len(caught) == 1
    assert bench.run("9" * 20).status == "cancelled"


def test_a_changed_task_or_model_is_refused(sqlite_bench: Bench) -> None:
    import dataclasses

    bench = sqlite_bench
    other = dataclasses.replace(tiny.request("8" * 20), model=dataclasses.replace(tiny.MODEL, revision="r2"))
    task = dataclasses.replace(tiny.request("7" * 20), task="singular-plural", task_hash="another")
    for request, code in ((other, "model-changed"), (task, "task-changed")):
        with bench.store.session() as session:
            runs.create_or_get(session, request, queue=None)
        with pytest.raises(HeadscopeError) as error:
            run_foreground(
                bench.store, request.id, tiny.NoFolders(),
                settings=bench.settings, analyses=tiny.ANALYSES, models=tiny.NoModels(),
            )  # fmt: skip
        assert error.value.code == code


def test_a_run_whose_work_does_not_fit_beside_its_model_is_refused_with_the_numbers(
    sqlite_bench: Bench,
) -> None:
    with pytest.raises(
        HeadscopeError, match=r"needs about 99999\.\d\d GiB; .* GiB of memory are free"
    ) as error:
        foreground(sqlite_bench, "f" * 20, gib=100_000.0)
    assert error.value.code == "no-memory"
    assert "bfloat16" in error.value.remedy
    assert sqlite_bench.run("f" * 20).status == "failed"
    assert not sqlite_bench.begun()
