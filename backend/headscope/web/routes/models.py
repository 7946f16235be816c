"""Models that this installation knows; adding and fetching them is the operator's, on the command line."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from headscope.core.model.head_list import as_text, check_heads, read_heads
from headscope.messages import ProofIn, ProofOut, TrialIn, TrialOut
from headscope.messages.questions import PROOF, TRIAL
from headscope.store import workers
from headscope.web.deps import App, StoreSession
from headscope.web.known import known_models_out
from headscope.web.present import model_out, resident
from headscope.web.resolve import known_entry, known_model
from headscope.web.schemas import HeadsIn, HeadsOut, KnownModelsOut, ModelOut

router = APIRouter(prefix="/models", tags=["models"])
known = APIRouter(tags=["models"])


@known.get("/known-models", summary="Well-known models that can be added, and what they take")
def list_known_models(app: App, session: StoreSession) -> KnownModelsOut:
    """With the command that the operator runs: models are never fetched through the API. Whether one has room
    is said of the largest device among the live workers.
    """
    memory = max((w.memory_bytes for w in workers.alive(session) if w.memory_bytes), default=None)
    here = {entry.name for entry in app.models.all() if entry.ready}
    return known_models_out(memory, here)


@router.get("", summary="Models that this installation knows")
def list_models(app: App, session: StoreSession) -> list[ModelOut]:
    """Those whose weights aren't here say what to do about it. Without their cards."""
    held = resident(workers.alive(session))
    return [model_out(app.models, entry, held.get(entry.name, []), card=False) for entry in app.models.all()]


@router.post("/{name:path}/heads", summary="Heads as they are pasted, read and checked")
def read_list(name: str, body: HeadsIn, app: App) -> HeadsOut:
    """Written as 0.3, L0H3, JSON, or CSV with columns layer and head. 422: bad-head names the first entry
    that is none, no-heads where there is none, unknown-head what the model lacks.
    """
    info = known_model(app, name)
    heads = read_heads(body.text)
    check_heads(heads, info)
    return HeadsOut(heads=list(heads), text=as_text(heads), of_heads=info.n_layers * info.n_heads)


@router.post("/{name:path}/check", summary="Have a worker prove what a model gives")
def check_model(
    name: str,
    app: App,
    wait: Annotated[float, Query(ge=0, le=120, description="Seconds to wait while it is loaded.")] = 2.0,
    anew: Annotated[bool, Query(description="Check again, whatever is kept.")] = False,
) -> ProofOut:
    """Short rows against the plain model, kept with its revision: seconds, once. 422 for a model that can't
    be loaded; 503 where no worker is alive, or, with `Retry-After`, while the model is being loaded.
    """
    info = known_model(app, name)
    return app.workers.ask(PROOF, ProofIn(model=info.name, wait=wait, anew=anew))


@router.post("/try", summary="A config.json tried before its weights are downloaded")
def try_config(body: TrialIn, app: App) -> TrialOut:
    """A worker makes a small model of it with random weights and proves that: what fails there fails with the
    real weights too. Nothing is kept. 422: bad-config names the entry, unsupported-architecture says why.
    """
    return app.workers.ask(TRIAL, body)


@router.get("/{name:path}", summary="One model with its card")
def get_model(name: str, app: App, session: StoreSession) -> ModelOut:
    """404 for an unknown one, listing those there are."""
    entry = known_entry(app, name)
    return model_out(app.models, entry, resident(workers.alive(session)).get(name, []), card=True)
