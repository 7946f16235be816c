"""Shares: short links to immutable runs and a view; private, unlisted or public, revocable, expiring."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from headscope.store import runs, shares
from headscope.store.tables import now
from headscope.web.deps import StoreSession, Who
from headscope.web.present import run_out, share_out
from headscope.web.schemas import SharedOut, ShareIn, ShareOut
from headscope.web.security import sign_in_needed

router = APIRouter(prefix="/shares", tags=["shares"])
reading = APIRouter(prefix="/shares", tags=["shares"])


@router.post("", status_code=201, summary="Make a short link to runs and a view of them")
def create_share(body: ShareIn, request: Request, response: Response, session: StoreSession) -> ShareOut:
    """404 names the first run that doesn't exist."""
    share = shares.create(
        session,
        list(dict.fromkeys(body.run_ids)),
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
def get_share(token: str, request: Request, session: StoreSession, who: Who) -> SharedOut:
    """404 for an unknown, 410 for a revoked or expired one; 401 for a private one without signing in.

    With `?share=TOKEN` its runs can be read at /runs/{run_id} and below. Runs deleted since are left out.
    """
    share = shares.get(session, token)
    if share.visibility == "private" and who == "sign-in-needed":
        raise sign_in_needed()
    found = [run_out(session, run) for run in runs.get_many(session, share.run_ids)]
    return SharedOut(**share_out(share, str(request.base_url)).model_dump(), runs=found)


@router.delete("/{token}", status_code=204, summary="Revoke a share")
def revoke_share(token: str, session: StoreSession) -> None:
    """The link stops opening at once; what it pointed to stays."""
    shares.revoke(session, token)
