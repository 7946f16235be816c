"""Put the shipped runs into a store that hasn't seen them.

Safe at every start and in two processes at once. A shipped run that someone deleted stays deleted, and one
that was asked for meanwhile stays as it is.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy.orm import Session

from headscope.errors import Invalid
from headscope.gallery import shipped
from headscope.gallery.shipped import FOLDER, Shipped
from headscope.store import marks, runs
from headscope.store.session import Store

MARK = "gallery"
_log = logging.getLogger(__name__)


def import_gallery(store: Store, folder: Path = FOLDER) -> Sequence[str]:
    """The ids of the runs that came in. A damaged file is reported and left out: the others still come."""
    with store.session() as session:
        seen = set((marks.get(session, MARK) or {}).get("runs", ()))
    found = [run for path in shipped.files(folder) if (run := _readable(path)) and run.request.id not in seen]
    if not found:
        return []
    with store.session() as session:
        added = [run.request.id for run in found if _add(session, run)]
        marks.put(session, MARK, {"runs": sorted(seen | {run.request.id for run in found})})
    return added


def _readable(path: Path) -> Shipped | None:
    try:
        return shipped.read(path)
    except Invalid as error:
        _log.warning("%s", error)
        return None


def _add(session: Session, run: Shipped) -> bool:
    return runs.add_finished(
        session,
        run.request,
        run.result,
        run.headline,
        origin="gallery",
        code_version=run.code_version,
        machine=run.machine,
        wall_seconds=run.wall_seconds,
        finished_at=run.finished_at,
    )
