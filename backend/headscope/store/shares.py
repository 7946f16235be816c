"""Links to runs and a view of them, or to a copy of a lab view: unguessable, listed, expiring, revocable.

The token itself is kept, not a hash of it: the list of shares shows its links again, and what a link
opens is no more than the database holds beside it. A lab view is kept as it was, prompt included, so that
its reader needs no worker; the copy goes when the share is revoked, or at the next change after its end.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import timedelta

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from headscope.errors import Gone, NotFound
from headscope.store import artifacts
from headscope.store.runs import get as get_run
from headscope.store.tables import Share, now


def create(
    session: Session,
    run_ids: Sequence[str],
    *,
    lab: bytes | None = None,
    view: Mapping[str, str] | None = None,
    path: str = "",
    visibility: str = "unlisted",
    expires_in_days: int | None = None,
) -> Share:
    """Make a link to runs that exist; ``NotFound`` (unknown-run) names the first that doesn't.

    ``lab`` is a lab view's copy as JSON.
    """
    for run_id in run_ids:
        get_run(session, run_id)
    _drop_expired(session)
    created = now()
    share = Share(
        token=secrets.token_urlsafe(16),
        run_ids=list(run_ids),
        view=dict(view or {}),
        path=path,
        visibility=visibility,
        created_at=created,
        expires_at=None if expires_in_days is None else created + timedelta(days=expires_in_days),
        lab_id=None if lab is None else artifacts.put(session, "json", lab),
    )
    session.add(share)
    session.flush()
    return share


def get(session: Session, token: str) -> Share:
    """A link that still opens. ``Gone`` (share-revoked, share-expired), ``NotFound`` (unknown-share)."""
    share = session.get(Share, token)
    if share is None:
        raise NotFound("There is no such link.", "Check that it was copied whole.", code="unknown-share")
    if share.revoked_at is not None:
        raise Gone("This link was revoked.", "Ask its owner for a new one.", code="share-revoked")
    if share.expires_at is not None and share.expires_at <= now():
        raise Gone("This link has expired.", "Ask its owner for a new one.", code="share-expired")
    return share


def lab(session: Session, share: Share) -> bytes | None:
    """The lab view that a share keeps, as JSON; None for a share of runs."""
    return None if share.lab_id is None else artifacts.get(session, share.lab_id)


def everything(session: Session) -> list[Share]:
    """All links, the newest first, revoked and expired ones too."""
    return list(session.scalars(select(Share).order_by(Share.created_at.desc(), Share.token)))


def revoke(session: Session, token: str) -> Share:
    """Close a link for good, and drop its copy; the time of the first revocation stands.

    ``NotFound`` (unknown-share) where there is none.
    """
    share = session.get(Share, token)
    if share is None:
        raise NotFound("There is no such link.", "See the list of shares.", code="unknown-share")
    share.revoked_at = share.revoked_at or now()
    share.lab_id = None
    session.flush()
    _drop_expired(session)
    artifacts.drop_unused(session)
    return share


def _drop_expired(session: Session) -> None:
    ended = update(Share).where(Share.expires_at <= now(), Share.lab_id.is_not(None)).values(lab_id=None)
    if session.execute(ended).rowcount:  # type: ignore[attr-defined]
        artifacts.drop_unused(session)
