"""Shares: short links to runs and a view, or to a lab view; private to public, revocable, expiring."""

from __future__ import annotations

from typing import Any, cast

from fastapi import APIRouter, Request, Response

from headscope.core.arrays import encode
from headscope.core.gating.gate_vector import gate_table
from headscope.messages import GatesIn, LabShareIn, LookIn, SharedLab
from headscope.messages.questions import GATES, LOOK
from headscope.store import runs, shares
from headscope.store.tables import now
from headscope.web.deps import App, Services, StoreSession, Who
from headscope.web.present import run_out, share_out
from headscope.web.resolve import known_entry, known_model, with_text
from headscope.web.schemas import SharedOut, ShareIn, ShareOut
from headscope.web.security import sign_in_needed

router = APIRouter(prefix="/shares", tags=["shares"])
reading = APIRouter(prefix="/shares", tags=["shares"])


@router.post("", status_code=201, summary="Make a short link to runs and a view of them, or to a lab view")
def create_share(body: ShareIn, request: Request, response: Response, app: App) -> ShareOut:
    """404 names the first run that doesn't exist.

    Of a lab view a worker is asked for everything once more, and the share keeps the answer as it is, prompt
    included: whoever opens it needs no worker. Fails as `/lab/look` and `/lab/gates` do.
    """
    copy = None if body.lab is None else lab_copy(app, body.lab).model_dump_json().encode()
    with app.store.session() as session:
        share = shares.create(
            session,
            list(dict.fromkeys(body.run_ids)),
            lab=copy,
            view=body.view,
            path=body.path,
            visibility=body.visibility,
            expires_in_days=body.expires_in_days,
        )
    response.headers["Location"] = f"/api/v1/shares/{share.token}"
    return share_out(share, str(request.base_url))


@reading.get("", summary="Shares, newest first; a reader who isn't signed in sees the public ones")
def list_shares(request: Request, session: StoreSession, who: Who) -> list[ShareOut]:
    """Revoked and expired ones too, for readers who are signed in."""
    everything = shares.everything(session)
    if who == "sign-in-needed":
        everything = [
            share
            for share in everything
            if share.visibility == "public"
            and share.revoked_at is None
            and (share.expires_at is None or share.expires_at > now())
        ]
    return [share_out(share, str(request.base_url)) for share in everything]


@reading.get("/{token}", summary="What a share opens")
def get_share(token: str, request: Request, app: App, session: StoreSession, who: Who) -> SharedOut:
    """404 for an unknown, 410 for a revoked or expired one; 401 for a private one without signing in.

    With `?share=TOKEN` its runs can be read at /runs/{run_id} and below. Runs deleted since are left out.
    A lab view is all there, as it was when it was shared.
    """
    share = shares.get(session, token)
    if share.visibility == "private" and who == "sign-in-needed":
        raise sign_in_needed()
    entries = app.models.entries()
    kept = shares.lab(session, share)
    return SharedOut(
        **share_out(share, str(request.base_url)).model_dump(),
        runs=[run_out(session, run, entries) for run in runs.get_many(session, share.run_ids)],
        lab=None if kept is None else SharedLab.model_validate_json(kept),
    )


@router.delete("/{token}", status_code=204, summary="Revoke a share")
def revoke_share(token: str, session: StoreSession) -> None:
    """The link stops opening at once. Runs that it pointed to stay; its copy of a lab view is deleted."""
    shares.revoke(session, token)


def lab_copy(app: Services, wanted: LabShareIn) -> SharedLab:
    """The view as a worker answers it now. Raises what the lab's own requests raise."""
    wanted = with_text(app, wanted)
    asked = wanted.model_dump(include={"model", "text", "bos", "wait"})
    info = known_model(app, wanted.model)
    look = app.workers.ask(LOOK, LookIn(**asked, fold=wanted.fold, weighted=wanted.weighted))
    read = wanted.model_dump(include={"at", "answers", "ablation", "reference"})
    gated = app.workers.ask(GATES, GatesIn(**asked, **read, gates=wanted.gates))
    return SharedLab(
        model=info.name,
        model_title=known_entry(app, info.name).title,
        revision=info.revision,
        text=wanted.text or "",
        look=look,
        gates=gated,
        ablation=wanted.ablation,
        reference=wanted.reference,
        gate_values=cast("Any", encode(gate_table(wanted.gates, info))),
    )
