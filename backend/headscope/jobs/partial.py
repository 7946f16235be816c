"""What a stopped run has finished, kept as its result until the run is resumed.

1. Whoever ends an attempt (its owner; the one who cancels a run that nobody computes; the worker that finds a
   killed command line's run) calls ``keep`` in the same transaction, so that the run and its result change at
   once.
2. An analysis that can say what a part of its pieces gives (``Analysis.partial``) is asked; others leave no
   result.
3. The run stays ``cancelled`` or ``failed``. Its pieces stay too: asking for it again fits the rest, and the
   whole result takes the partial one's place.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from sqlalchemy.orm import Session

from headscope.analyses.base import Analysis, Spec
from headscope.core.model.info import ModelInfo
from headscope.store import artifacts, attempts, runs
from headscope.store.tables import Run
from headscope.store.tasks import load_user_tasks
from headscope.tasks.catalogue import TaskCatalogue
from headscope.tasks.task import Task

log = logging.getLogger(__name__)


def keep(session: Session, run_id: str, number: int, analyses: Mapping[str, Analysis[Any, Any]]) -> None:
    """Give a run that ended early what its finished pieces amount to. A whole result stays."""
    run = runs.get(session, run_id)
    analysis = analyses.get(run.analysis)
    if run.whole or run.active or analysis is None or analysis.partial is None:
        return
    names = attempts.pieces(session, run_id, number)
    if not names or analysis.version != run.analysis_version:
        return
    pieces = {key: artifacts.get_piece(session, name) for key, name in names.items()}
    task = _task(session, run)
    try:
        params = analysis.params.model_validate(run.params)
        result = analysis.partial(Spec(params, ModelInfo(**run.model_info), task), pieces)
    except Exception:  # the run has ended, and its end must be written down
        log.exception("What is finished of run %s can't be joined", run.id)
        return
    if result is not None:
        attempts.keep_partial(session, run, result.to_json(), dict(analysis.headline(result)))


def _task(session: Session, run: Run) -> Task | None:
    """The run's task, if it is still the one that the run was asked for."""
    known = {task.name: task for task in TaskCatalogue(load_user_tasks(session)).all()}
    task = known.get(run.task or "")
    return task if task is not None and task.content_hash == run.task_hash else None
