"""The engine's parts by themselves: turns, locks, pace, queues, devices."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from headscope.analyses.base import Estimate
from headscope.errors import Cancelled, Invalid, Refused
from headscope.jobs.client import NOBODY, choose_queue, notice
from headscope.jobs.device import find_device, free_bytes
from headscope.jobs.device_queue import DeviceQueue
from headscope.jobs.lock import FileLock
from headscope.jobs.problem import problem_of
from headscope.jobs.run_monitor import Pace
from headscope.store import runs, workers
from jobs import tiny
from jobs.conftest import Bench, environment

GIB = 2**30


def test_a_prompt_goes_between_two_micro_batches_of_a_job() -> None:
    queue, order, stop = DeviceQueue(), list[str](), threading.Event()

    def job() -> None:
        with queue.job():
            while not stop.is_set():
                order.append("job")
                time.sleep(0.02)
                queue.let_pass()

    thread = threading.Thread(target=job)
    thread.start()
    waits = []
    for _ in range(5):
        start = time.monotonic()
        with queue.interactive():
            waits.append(time.monotonic() - start)
            before = len(order)
            time.sleep(0.05)
            assert len(order) == before  # the job waits
        time.sleep(0.1)
    stop.set()
    thread.join(5)
    assert max(waits) < 1
    assert len(order) > 3


def test_a_job_that_lets_prompts_pass_can_still_be_cancelled() -> None:
    queue, entered, stop = DeviceQueue(), threading.Event(), threading.Event()

    def prompt() -> None:
        with queue.interactive():
            entered.set()
            stop.wait(10)

    def check() -> None:
        if entered.is_set():
            raise Cancelled("stop", "")

    thread = threading.Thread(target=prompt)

    def job() -> None:
        with queue.job():
            thread.start()
            while True:
                queue.let_pass(check)
                time.sleep(0.01)

    with pytest.raises(Cancelled):
        job()
    assert thread.is_alive()
    stop.set()
    thread.join(5)
    with queue.job():  # nothing was left held
        pass


def test_background_work_and_a_job_take_turns_and_prompts_overtake_both() -> None:
    queue, order, stop = DeviceQueue(), list[str](), threading.Event()

    def job() -> None:
        with queue.job():
            while not stop.is_set():
                order.append("j")
                time.sleep(0.005)
                queue.let_pass()

    def background() -> None:
        with queue.interactive():
            while not stop.is_set():
                order.append("b")
                time.sleep(0.005)
                queue.alternate()

    threads = [threading.Thread(target=work) for work in (job, background)]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    start = time.monotonic()
    with queue.interactive():
        waited = time.monotonic() - start
    stop.set()
    for thread in threads:
        thread.join(5)
        assert not thread.is_alive()
    assert waited < 0.5
    assert "jjj" not in "".join(order[4:-4])
    assert "bbb" not in "".join(order[4:-4])


def test_prompts_go_in_the_order_they_came_and_background_work_waits_behind_them() -> None:
    queue, order = DeviceQueue(), list[str]()
    threads = []

    def prompt(name: str) -> None:
        with queue.interactive():
            order.append(name)

    with queue.interactive():  # background work that no job interrupts
        for number in range(5):
            threads.append(threading.Thread(target=prompt, args=(f"p{number}",)))
            threads[-1].start()
            while queue.waiting <= number:
                time.sleep(0.001)
        queue.alternate()
        order.append("background")
    for thread in threads:
        thread.join(5)
    assert order == ["p0", "p1", "p2", "p3", "p4", "background"]


def test_a_prompt_that_gives_up_leaves_the_others_their_turn() -> None:
    queue, order = DeviceQueue(), list[str]()

    def prompt(name: str, check: Callable[[], None]) -> None:
        try:
            with queue.interactive(check):
                order.append(name)
        except Cancelled:
            order.append(f"{name} gave up")

    def give_up() -> None:
        raise Cancelled("stop", "")

    first = threading.Thread(target=prompt, args=("first", give_up))
    second = threading.Thread(target=prompt, args=("second", lambda: None))
    with queue.interactive():
        first.start()
        while not queue.waiting:
            time.sleep(0.001)
        second.start()
        first.join(5)  # while the device is busy
        assert order == ["first gave up"]
    second.join(5)
    assert order == ["first gave up", "second"]
    with queue.job():
        pass


def test_a_lock_is_freed_when_its_process_is_killed(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "deep" / "a.lock")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock.path)],
        env=environment(), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert holder.stdout is not None
    assert holder.stdout.readline().strip() == "True"
    assert not lock.acquire("mine")
    assert lock.note() == "other"
    holder.kill()
    holder.communicate()
    assert lock.acquire("mine")
    assert lock.note() == "mine"
    lock.release()


HOLD = """
import sys, time
from pathlib import Path
from headscope.jobs.lock import FileLock
lock = FileLock(Path(sys.argv[1]))
print(lock.acquire("other"), flush=True)
time.sleep(60)
"""


def test_the_remaining_time_is_measured_from_where_this_process_began() -> None:
    times = [100.0]
    pace = Pace(lambda: times[0])
    assert pace.seconds_left(0.5) is None
    times[0] = 110.0
    assert pace.seconds_left(0.6) == pytest.approx(40.0)
    assert pace.seconds_left(0.5) is None  # nothing moved
    times[0] = 120.0
    assert pace.seconds_left(1.0) == 0.0


def register(bench: Bench, name: str, queue: str, gib: float | None) -> None:
    memory = None if gib is None else int(gib * GIB)
    with bench.store.session() as session:
        workers.register(session, name, host="h", device=queue, queue=queue, memory_bytes=memory, patience=60)


def test_a_run_waits_in_the_smallest_class_that_fits(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    small, large = Estimate(1, 10 * GIB, "told"), Estimate(1, 50 * GIB, "told")
    choice = choose_queue(bench.store, small)
    assert (choice.queue, choice.notice) == ("cpu", NOBODY)
    register(bench, "c", "cpu", 60)
    assert choose_queue(bench.store, small).queue == "cpu"
    register(bench, "g80", "gpu-80", 80)
    register(bench, "g24", "gpu-24", 24)
    assert choose_queue(bench.store, small).queue == "gpu-24"
    assert choose_queue(bench.store, large).queue == "gpu-80"
    with pytest.raises(Refused) as error:
        choose_queue(bench.store, Estimate(1, 100 * GIB, "weights"))
    assert error.value.code == "too-big"
    assert "100.0 GiB" in str(error.value)
    assert "80.0 GiB" in str(error.value)


def test_a_run_that_nobody_will_take_says_so(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    run_id = bench.start("a" * 20)

    def said() -> str | None:
        with bench.store.session() as session:
            return notice(session, runs.get(session, run_id))

    assert said() == NOBODY
    register(bench, "g", "gpu-24", 24)
    assert "gpu-24" in (said() or "")
    register(bench, "c", "cpu", 1)
    assert said() is None


def test_a_deleted_run_can_be_asked_for_again(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    bench.worker()
    for _ in range(2):
        run_id = bench.start("b" * 20, pieces=1)
        bench.until_status(run_id, "done")
        with bench.store.session() as session:
            runs.delete(session, run_id)
    assert bench.begun() == {"p0": 2}


def test_devices_are_named_as_torch_does() -> None:
    device = find_device("cpu")
    assert (device.name, device.queue) == ("cpu", "cpu")
    assert device.memory_bytes > 2**28
    assert "torch 2" in device.machine
    for name in ("cuda:99", "tpu"):
        with pytest.raises(Invalid) as error:
            find_device(name)
        assert error.value.code == "unknown-device"


def test_not_all_memory_is_free() -> None:
    assert 0 < free_bytes("cpu") < find_device("cpu").memory_bytes


def test_memory_that_ran_out_is_a_problem_with_a_remedy() -> None:
    problem = problem_of(MemoryError())
    assert (problem["code"], problem["status"]) == ("out-of-memory", 409)


def test_the_client_loads_no_torch() -> None:
    program = (
        "import sys, headscope.jobs.client, headscope.worker.client;"
        "print([name for name in ('torch', 'transformers', 'dbos') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_the_same_request_twice_is_one_workflow(sqlite_bench: Bench) -> None:
    from sqlalchemy import text

    bench = sqlite_bench
    first = bench.client.start(tiny.request("c" * 20), "cpu")
    again = bench.client.start(tiny.request("c" * 20), "cpu")
    bench.client.submit("c" * 20, "cpu", 1)
    assert (first.new, again.new) == (True, False)
    with bench.store.session() as session:
        assert session.scalar(text("SELECT count(*) FROM workflow_status")) == 1
