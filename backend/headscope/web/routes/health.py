"""Whether the service lives, who works for it, and how plots look: open to everyone."""

from __future__ import annotations

from fastapi import APIRouter, Response

from headscope import __version__
from headscope.figures import theme as themes
from headscope.store import workers
from headscope.web.deps import App, StoreSession, Who
from headscope.web.present import worker_out
from headscope.web.schemas import HealthOut, ThemeOut

router = APIRouter()


@router.get("/health", tags=["service"], summary="Is the service up, and who works for it")
def health(app: App, session: StoreSession, who: Who) -> HealthOut:
    """Also says whether the reader has access; who isn't signed in learns nothing about the workers."""
    everyone = workers.everyone(session)
    alive = sum(worker.alive for worker in everyone)
    return HealthOut(
        status="ok" if alive else "degraded",
        version=__version__,
        database=app.store.kind,
        workers=[] if who == "sign-in-needed" else [worker_out(worker) for worker in everyone],
        detail=_workers_in_words(alive),
        access=who,
    )


@router.get("/theme", tags=["figures"], summary="Plotly templates, light and dark")
def theme(response: Response) -> ThemeOut:
    """Sent once; figures travel without their template."""
    response.headers["Cache-Control"] = "no-cache"
    return ThemeOut.model_validate(themes.theme())


def _workers_in_words(alive: int) -> str:
    if alive == 0:
        return "No worker is alive: runs wait. Start one with `headscope worker`."
    return "One worker is alive." if alive == 1 else f"{alive} workers are alive."
