"""The number of threads is kept with a run, named by its command, and used again where it is reproduced."""

from __future__ import annotations

import pytest
import torch

from headscope.jobs.device import find_device
from headscope.jobs.threads import computing_with, threads_of
from headscope.web.present import reproduce_command
from jobs.conftest import Bench


@pytest.mark.parametrize(
    ("machine", "threads"),
    [
        ("2 CPU cores, Linux x86_64, torch 2.9.0, 2 threads", 2),
        ("1 CPU cores, Linux x86_64, torch 2.9.0+cpu, 1 thread", 1),
        ("2 CPU cores, Linux x86_64, torch 2.9.0", None),
        ("NVIDIA H200, Linux x86_64, torch 2.9.0", None),
        (None, None),
    ],
)
def test_a_machine_says_how_many_threads_computed(machine: str | None, threads: int | None) -> None:
    assert threads_of(machine) == threads


def test_so_many_inside_and_as_many_as_before_afterwards() -> None:
    before = torch.get_num_threads()
    with computing_with(before + 1):
        assert threads_of(find_device("cpu").machine) == torch.get_num_threads() == before + 1
    assert torch.get_num_threads() == before
    with computing_with(None):
        assert torch.get_num_threads() == before


def test_a_run_is_reproduced_with_as_many_threads_as_computed_it(sqlite_bench: Bench) -> None:
    bench = sqlite_bench
    first = bench.worker(threads=3)
    run_id = bench.start("7" * 20, pieces=1)
    bench.until_status(run_id, "done")
    assert threads_of(bench.run(run_id).machine) == 3
    assert reproduce_command(bench.run(run_id)).startswith("HEADSCOPE_THREADS=3 headscope run")
    first.terminate()
    first.wait(30)
    bench.worker(threads=1)
    bench.client.reproduce(run_id, "cpu")
    bench.until(lambda: len(bench.run(run_id).attempts) == 2 and not bench.run(run_id).active)
    assert threads_of(bench.run(run_id).last.machine) == 3
