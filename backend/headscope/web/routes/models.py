"""Models that this installation knows; adding and fetching them is the operator's, on the command line."""

from __future__ import annotations

from fastapi import APIRouter

from headscope.core.model.head_list import as_text, check_heads, read_heads
from headscope.store import workers
from headscope.web.deps import App, StoreSession
from headscope.web.present import model_out, resident
from headscope.web.resolve import known_entry, known_model
from headscope.web.schemas import HeadsIn, HeadsOut, ModelOut

router = APIRouter(prefix="/models", tags=["models"])


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


@router.get("/{name:path}", summary="One model with its card")
def get_model(name: str, app: App, session: StoreSession) -> ModelOut:
    """404 for an unknown one, listing those there are."""
    entry = known_entry(app, name)
    return model_out(app.models, entry, resident(workers.alive(session)).get(name, []), card=True)
