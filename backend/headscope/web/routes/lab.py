"""Heads on a prompt, live: answered by a worker that holds the model.

Every route says 422 for a prompt that can't be read (empty, beyond the context, not text), 409 where the
device has no room for it or the same board has asked for something newer, and 503 at once where no worker is
alive, or after ``wait`` seconds where the model is still being loaded, with ``Retry-After``.
"""

from __future__ import annotations

from fastapi import APIRouter

from headscope.messages import (
    AttributionIn,
    AttributionOut,
    ContinueIn,
    ContinueOut,
    GatesIn,
    GatesOut,
    HeadAblationIn,
    HeadAblationOut,
    LensIn,
    LensOut,
    LookIn,
    LookOut,
    PatternsIn,
    PatternsOut,
)
from headscope.web.asking import with_text
from headscope.web.deps import App

router = APIRouter(prefix="/lab", tags=["lab"])


@router.post("/look", summary="All heads on a prompt: scores, losses, repeats, thumbnails")
def look(body: LookIn, app: App) -> LookOut:
    """One pass. Patterns come as thumbnails; `/lab/patterns` has them whole, layer by layer."""
    return app.workers.look(with_text(app, body))


@router.post("/patterns", summary="Attention patterns of a prompt")
def patterns(body: PatternsIn, app: App) -> PatternsOut:
    """422 for a prompt beyond the context or a layer there isn't; 413 for too much at once."""
    return app.workers.patterns(with_text(app, body))


@router.post("/gates", summary="Next-token probabilities before and after gating heads")
def gates(body: GatesIn, app: App) -> GatesOut:
    """Gates are [layers, heads] in [0, 1]. One forward pass a move of a slider."""
    return app.workers.gates(with_text(app, body))


@router.post("/continue", summary="What the model writes next, as it is and gated")
def continue_prompt(body: ContinueIn, app: App) -> ContinueOut:
    """Greedy at temperature 0; sampled by `seed` above, with the same draws for both."""
    return app.workers.continue_prompt(with_text(app, body))


@router.post("/ablation", summary="One head gated off: losses with patterns frozen and free")
def ablation(body: HeadAblationIn, app: App) -> HeadAblationOut:
    """Frozen patterns show what the head writes itself; free ones also what later heads make of it."""
    return app.workers.ablation(with_text(app, body))


@router.post("/attribution", summary="A logit as a sum over heads and other parts")
def attribution(body: AttributionIn, app: App) -> AttributionOut:
    """Direct logit attribution at the scale of the final norm; the parts add up to the logit."""
    return app.workers.attribution(with_text(app, body))


@router.post("/lens", summary="What each layer would predict")
def lens(body: LensIn, app: App) -> LensOut:
    """The logit lens: the stream after each layer, read through the final norm and the unembedding."""
    return app.workers.lens(with_text(app, body))
