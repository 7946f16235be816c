"""The durable engine behind its small face: DBOS takes runs from the queue and remembers finished steps.

1. A run is a workflow, a piece a step: after a crash the workflow resumes after its last finished step.
2. Own runs come back when this worker starts again under its id; ``hand_on`` passes a dead one's on.
3. One queue a class of device, one run at a time.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from headscope.jobs.computation import Answer, Workplace
from headscope.jobs.execution import carry_out
from headscope.jobs.foreground import run_foreground
from headscope.settings import Settings
from headscope.store.migrate import engine_url

__all__ = ["Engine", "run_foreground"]

POLL_EVERY = 0.2
"""Seconds between two looks into the queue: 2 % of a core when idle."""


class Engine:
    """The computing side of jobs. One at a time in a process, for DBOS is one."""

    def __init__(self, settings: Settings, place: Workplace, queue: str) -> None:
        self._settings, self._place, self._queue = settings, place, queue

    def start(self) -> None:
        """Take up what this worker left, then what waits in the queue. The tables must be up to date."""
        from dbos import DBOS

        from headscope.jobs.names import APPLICATION, JOB_FORMAT, WORKFLOW, JsonSerializer

        logging.getLogger("dbos").setLevel(logging.WARNING)
        DBOS(
            config={
                "name": APPLICATION,
                "system_database_url": engine_url(self._settings),
                "executor_id": self._place.owner,
                "application_version": JOB_FORMAT,
                "serializer": JsonSerializer(),
                "log_level": "WARNING",
                "run_migrations": False,
            }
        )
        # Any number of recoveries: a run is not given up because its workers were killed.
        DBOS.workflow(name=WORKFLOW, max_recovery_attempts=None)(self._workflow())
        DBOS.listen_queues([self._queue])
        DBOS.launch()
        DBOS.register_queue(
            self._queue, worker_concurrency=1, polling_interval_sec=POLL_EVERY, on_conflict="always_update"
        )

    def hand_on(self, dead: Sequence[str]) -> None:
        """Put dead workers' unfinished runs back into their queues, where any live worker takes them."""
        from dbos import DBOS

        # Private, but it is the one way that is guarded: a run that someone took up meanwhile is left alone.
        DBOS._recover_pending_workflows(list(dead))

    def stop(self) -> None:
        """Stop taking runs. One that is being computed stays unfinished, to be resumed."""
        from dbos import DBOS

        DBOS.destroy(destroy_registry=True)

    def _workflow(self) -> Callable[[str, int], str]:
        from dbos import DBOS

        def step(name: str, work: Callable[[], Answer]) -> Answer:
            return DBOS.run_step({"name": name}, work)

        def compute_run(run_id: str, number: int) -> str:
            return carry_out(self._place, run_id, number, step=step)

        return compute_run
