"""Workers as real processes, killed, stopped and starved for real."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headscope.settings import Settings
from headscope.store import runs
from jobs import tiny
from jobs.conftest import Bench, environment
from services.postgres import PostgresServer


def test_a_run_is_computed_with_progress_and_once(bench: Bench) -> None:
    bench.worker()
    run_id = bench.start("a" * 20, pieces=3, seconds=0.6)
    seen: list[float] = []

    def done() -> bool:
        run = bench.run(run_id)
        if run.progress:
            seen.append(run.progress["fraction"])
        return run.status == "done"

    bench.until(done)
    assert seen == sorted(seen)
    assert len(set(seen)) >= 3
    with bench.store.session() as session:
        result = runs.result(session, run_id)
    assert result.arrays["g_plus"].tolist() == [[1], [2], [3]]
    assert (
        bench.client.start(__import__("jobs.tiny", fromlist=["request"]).request(run_id), "cpu").new is False
    )
    assert bench.begun() == {"p0": 1, "p1": 1, "p2": 1}


def test_a_killed_workers_run_goes_on_after_its_restart_with_nothing_done_twice(bench: Bench) -> None:
    worker = bench.worker()
    run_id = bench.start("b" * 20, pieces=6, seconds=0.5)
    bench.until(lambda: bench.begun()["p3"])
    worker.kill()
    worker.wait()
    assert bench.run(run_id).status == "running"
    start = time.monotonic()
    bench.worker()
    bench.until(lambda: bench.begun()["p3"] == 2)
    print(f"killed to going on, a new process included: {time.monotonic() - start:.2f} s")
    bench.until_status(run_id, "done")
    begun = bench.begun()
    assert {key: begun[key] for key in ("p0", "p1", "p2", "p4", "p5")} == dict.fromkeys(
        ("p0", "p1", "p2", "p4", "p5"), 1
    )
    assert begun["p3"] == 2


def test_a_dead_workers_run_is_handed_on_to_a_living_one(bench: Bench) -> None:
    bench.worker()
    bench.worker()
    run_id = bench.start("c" * 20, pieces=4, seconds=0.7)
    bench.until(lambda: bench.begun()["p1"])
    bench.owner(run_id).kill()
    waited = bench.until(lambda: bench.begun()["p1"] == 2)
    print(f"killed to handed on: {waited:.2f} s at a patience of 2 s")
    bench.until_status(run_id, "done")
    assert bench.begun() == {"p0": 1, "p1": 2, "p2": 1, "p3": 1}


def test_a_worker_that_ends_in_order_hands_its_run_on_at_once(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    bench.settings = bench.settings.model_copy(update={"worker_patience": 4.0})
    bench.worker()
    bench.worker()
    time.sleep(4.5)  # a worker looks after others once it has been steady for its patience
    run_id = bench.start("d" * 20, pieces=3, seconds=1.0)
    bench.until(lambda: bench.begun()["p1"])
    first = bench.owner(run_id)
    first.terminate()
    assert first.wait(5) == 0
    assert bench.until(lambda: bench.begun()["p1"] == 2) < 3
    bench.until_status(run_id, "done")


def test_cancelling_takes_less_than_two_seconds(bench: Bench) -> None:
    bench.worker()
    run_id = bench.start("e" * 20, pieces=2, seconds=20)
    bench.until(lambda: bench.run(run_id).progress)
    bench.client.cancel(run_id)
    took = bench.until_status(run_id, "cancelled", 2.0)
    print(f"cancelled after {took:.2f} s")
    waiting = bench.start("f" * 20, pieces=1, seconds=0.1)
    bench.until_status(waiting, "done")


def test_a_cancelled_run_goes_on_where_it_was(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    bench.worker()
    run_id = bench.start("1" * 20, pieces=4, seconds=2.0)
    bench.until(lambda: bench.begun()["p2"])
    bench.client.cancel(run_id)
    bench.until_status(run_id, "cancelled")
    bench.start(run_id, pieces=4, seconds=2.0)
    bench.until_status(run_id, "done")
    assert bench.begun() == {"p0": 1, "p1": 1, "p2": 2, "p3": 1}
    assert [attempt.status for attempt in bench.run(run_id).attempts] == ["cancelled", "done"]


def test_a_worker_that_was_asleep_spoils_nothing(bench: Bench) -> None:
    bench.worker()
    bench.worker()
    run_id = bench.start("2" * 20, pieces=4, seconds=0.6)
    bench.until(lambda: bench.begun()["p1"])
    sleeper = bench.owner(run_id)
    sleeper.send_signal(signal.SIGSTOP)
    bench.until(lambda: bench.begun()["p1"] == 2)
    sleeper.send_signal(signal.SIGCONT)
    bench.until_status(run_id, "done")
    time.sleep(1.0)
    with bench.store.session() as session:
        assert runs.result(session, run_id).arrays["g_plus"].tolist() == [[1], [2], [3], [4]]
    assert bench.run(run_id).status == "done"
    assert bench.begun() == {"p0": 1, "p1": 2, "p2": 1, "p3": 1}
    next_one = bench.start("3" * 20, pieces=1)
    bench.until_status(next_one, "done")


def test_two_workers_on_one_database_share_the_work_and_the_device(bench: Bench) -> None:
    bench.worker()
    bench.worker()
    ids = [bench.start(f"{number:020}", pieces=2, seconds=0.2) for number in range(6)]
    for run_id in ids:
        bench.until_status(run_id, "done", 60)
    assert bench.begun() == {"p0": 6, "p1": 6}
    owners = {bench.run(run_id).last.owner for run_id in ids}
    assert len(owners) == 2


def test_a_failure_is_the_runs_result_and_the_worker_lives_on(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    bench.worker()
    expected = bench.start("4" * 20, pieces=1, fault="expected")
    unexpected = bench.start("5" * 20, pieces=1, fault="bug")
    bench.until_status(expected, "failed")
    bench.until_status(unexpected, "failed")
    error = bench.run(expected).error
    assert error is not None
    assert (error["code"], error["remedy"], error["status"]) == ("no-room", "Make some.", 409)
    error = bench.run(unexpected).error
    assert error is not None
    assert error["code"] == "internal"
    assert "ZeroDivisionError" in error["detail"]
    bench.until_status(bench.start("6" * 20, pieces=1), "done")


def test_reproducing_computes_everything_again(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    bench.worker()
    run_id = bench.start("7" * 20, pieces=2)
    bench.until_status(run_id, "done")
    bench.client.reproduce(run_id, "cpu")
    bench.until(lambda: len(bench.run(run_id).attempts) == 2 and not bench.run(run_id).active)
    assert bench.begun() == {"p0": 2, "p1": 2}
    assert bench.run(run_id).last.drift == 0


def test_a_database_that_is_down_for_a_while_stops_nothing(tmp_path: Path) -> None:
    server = PostgresServer()
    server.start()
    bench = Bench(Settings(data_dir=tmp_path, database_url=server.new_database()))
    try:
        bench.worker()
        bench.worker()
        run_id = bench.start("8" * 20, pieces=3, seconds=1.0)
        bench.until(lambda: bench.begun()["p1"])
        server.stop()
        time.sleep(6)
        server.start()
        bench.until(lambda: bench.store.patiently(lambda s: runs.get(s, run_id)).status == "done", 60)
        assert bench.begun()["p0"] == 1
    finally:
        bench.close()
        server.remove()


def test_an_embedded_worker_ends_when_its_parent_is_killed(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    program = (
        "import os, subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, sys.argv[1], sys.argv[2], str(os.getpid())])\n"
        "time.sleep(60)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program, tiny.__file__, bench.settings.model_dump_json()], env=environment()
    )
    bench.until(lambda: bench.alive() == 1)
    parent.kill()
    parent.wait()
    bench.until(lambda: bench.alive() == 0)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads processor time from /proc")
def test_an_idle_worker_is_cheap(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    worker = bench.worker()
    time.sleep(1.5)

    def spent() -> float:
        fields = Path(f"/proc/{worker.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    before = spent()
    time.sleep(3)
    share = (spent() - before) / 3
    print(f"idle: {share:.1%} of a core")
    assert share < 0.15
