"""How an attempt is carried out, by whichever process has it.

1. Claim it; from then on every write is guarded by the owner's name.
2. Compute it piece by piece (``jobs.computation``).
3. End it: done, failed with its problem, or cancelled, keeping what is whole (``jobs.partial``). Where it is
   in other hands by then, leave it alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from sqlalchemy.orm import Session

from headscope import __version__
from headscope.analyses.base import Progress
from headscope.jobs.computation import Answer, Computation, Outcome, Step, Workplace, guarded
from headscope.jobs.partial import keep
from headscope.jobs.run_monitor import RunMonitor
from headscope.jobs.threads import computing_with, threads_of
from headscope.store import attempts, runs
from headscope.store.attempts import Superseded
from headscope.store.tables import Run

log = logging.getLogger(__name__)

_ENDING_PATIENCE = 600.0
"""Seconds that the end of an attempt waits for a database that is down: it may be hours of work."""


def carry_out(
    place: Workplace,
    run_id: str,
    number: int,
    *,
    step: Step = lambda name, work: work(),
    foreground: bool = False,
    on_progress: Callable[[Progress], None] = lambda _: None,
) -> Outcome:
    """Claim and compute an attempt to its end, and say which end it was.

    ``superseded``: someone else has it, or it was over before. ``step`` runs each piece's work under its
    name; it may return an earlier answer instead. Errors end the attempt and are not raised; Ctrl-C cancels
    it and is raised.
    """
    run = place.store.patiently(lambda session: _claim(session, place, run_id, number, foreground))
    if run is None:
        return "superseded"
    with (
        RunMonitor(place.store, run_id, number, place.owner, on_progress) as monitor,
        Computation(place, run, number, monitor) as computation,
        computing_with(_threads(place, run, number)),
    ):
        try:
            answer = guarded(lambda: computation.run(step))
        except KeyboardInterrupt:
            _end(place, run_id, number, {"ended": "cancelled"})
            raise
    return _end(place, run_id, number, answer)


def _threads(place: Workplace, run: Run, number: int) -> int | None:
    """As many as computed the run where it is reproduced; else as many as there are."""
    again = any(attempt.number == number and attempt.kind == "reproduce" for attempt in run.attempts)
    return threads_of(run.machine) if again and place.device.name == "cpu" else None


def _claim(session: Session, place: Workplace, run_id: str, number: int, foreground: bool) -> Run | None:
    with computing_with(_threads(place, runs.get(session, run_id), number)):
        machine = place.device.machine
    held = attempts.claim(
        session, run_id, number, place.owner,
        machine=machine, code_version=__version__, foreground=foreground,
    )  # fmt: skip
    return runs.get(session, run_id) if held else None


def _end(place: Workplace, run_id: str, number: int, answer: Answer) -> Outcome:
    ended: Outcome = answer["ended"]

    def end(session: Session) -> None:
        if ended == "cancelled":
            attempts.cancelled(session, run_id, number, place.owner)
        else:
            attempts.fail(session, run_id, number, place.owner, answer["problem"])
        keep(session, run_id, number, place.analyses)

    try:
        if ended in ("cancelled", "failed"):
            place.store.patiently(end, _ENDING_PATIENCE)
    except Superseded:
        ended = "superseded"
    log.info("run %s, attempt %d: %s", run_id, number, ended)
    return ended
