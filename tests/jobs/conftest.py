from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import headscope
from headscope.jobs.client import JobClient
from headscope.settings import Settings
from headscope.store import migrate, runs, workers
from headscope.store.session import Store, open_store
from headscope.store.tables import Run
from jobs import tiny


class WorkerProcess(subprocess.Popen[bytes]):
    """A worker; ``name`` is its id in the store."""

    name = ""


class Bench:
    """A database, workers as real processes, and runs of the tiny analysis."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings.model_copy(update={"worker_patience": 2.0, "device": "cpu"})
        migrate.upgrade(self.settings)
        self.store: Store = open_store(self.settings)
        self.client = JobClient(self.settings, self.store)
        self.journal = settings.data_dir / "journal"
        self._processes: list[WorkerProcess] = []

    def worker(self, **changes: Any) -> WorkerProcess:
        """Start a worker and wait until it is alive."""
        before = self.addresses()
        settings = self.settings.model_copy(update=changes)
        command = [sys.executable, tiny.__file__, settings.model_dump_json()]
        with (self.settings.data_dir / "worker.log").open("ab") as log:
            process = WorkerProcess(command, env=environment(), stdout=log, stderr=log)
        self._processes.append(process)
        self.until(lambda: self.addresses().keys() - before.keys() or process.poll() is not None, 60)
        assert process.poll() is None, self.log()
        after = self.addresses()
        process.name = after[(after.keys() - before.keys()).pop()]
        return process

    def owner(self, run_id: str) -> WorkerProcess:
        """The process that computes a run now."""
        owner = self.run(run_id).last.owner
        return next(process for process in reversed(self._processes) if process.name == owner)

    def start(self, run_id: str, **params: Any) -> str:
        request = tiny.request(run_id, journal=str(self.journal), **params)
        self.client.start(request, "cpu")
        return run_id

    def run(self, run_id: str) -> Run:
        with self.store.session() as session:
            return runs.get(session, run_id)

    def until(self, holds: Callable[[], Any], seconds: float = 30.0) -> float:
        """Wait until something holds; how many seconds that took."""
        start = time.monotonic()
        while not holds():
            if time.monotonic() - start > seconds:
                pytest.fail(f"Not within {seconds} s. The workers wrote:\n{self.log()}")
            time.sleep(0.02)
        return time.monotonic() - start

    def until_status(self, run_id: str, status: str, seconds: float = 30.0) -> float:
        return self.until(lambda: self.run(run_id).status == status, seconds)

    def alive(self) -> int:
        return len(self.addresses())

    def addresses(self) -> dict[str | None, str]:
        """Names of the living workers by address, which a restarted one has anew."""
        with self.store.session() as session:
            return {worker.address: worker.id for worker in workers.alive(session)}

    def begun(self) -> Counter[str]:
        """How often each piece was begun."""
        text = self.journal.read_text() if self.journal.exists() else ""
        return Counter(line.split()[0] for line in text.splitlines())

    def log(self) -> str:
        return (self.settings.data_dir / "worker.log").read_text()

    def close(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait(10)
        self.store.close()


def environment() -> dict[str, str]:
    backend, tests = Path(headscope.__file__).parents[1], Path(__file__).parents[1]
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    path = os.pathsep.join([str(backend), str(tests), os.environ.get("PYTHONPATH", "")])
    return {**kept, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}


@pytest.fixture
def bench(settings: Settings) -> Iterator[Bench]:
    opened = Bench(settings)
    yield opened
    opened.close()


@pytest.fixture
def sqlite_bench(tmp_path: Path) -> Iterator[Bench]:
    opened = Bench(Settings(data_dir=tmp_path))
    yield opened
    opened.close()
