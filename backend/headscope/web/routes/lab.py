"""Heads on a prompt, live: answered by a worker that holds the model."""

from __future__ import annotations

from fastapi import APIRouter

from headscope.web.asking import known_model
from headscope.web.deps import App
from headscope.web.schemas import GatesIn, GatesOut, PatternsIn, PatternsOut

router = APIRouter(prefix="/lab", tags=["lab"])


@router.post("/patterns", summary="Attention patterns of a prompt")
def patterns(body: PatternsIn, app: App) -> PatternsOut:
    """422 for a prompt beyond the context or a layer there isn't; 503 at once where no worker is alive."""
    known_model(app, body.model)
    return app.workers.patterns(body)


@router.post("/gates", summary="Next-token probabilities before and after gating heads")
def gates(body: GatesIn, app: App) -> GatesOut:
    """Gates are [layers, heads] in [0, 1]; 503 at once where no worker is alive."""
    known_model(app, body.model)
    return app.workers.gates(body)
