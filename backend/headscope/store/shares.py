"""Links to runs and a view of them: unguessable, listed, expiring, revocable.

The token itself is kept, not a hash of it: the list of shares shows its links again, and what a link
opens is no more than the database holds beside it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from headscope.errors import Gone, NotFound
from headscope.store.runs import get as get_run
from headscope.store.tables import Share, now


def create(
    session: Session,
    run_ids: Sequence[str],
    *,
    view: Mapping[str, str] | None = None,
    path: str = "",
    visibility: str = "unlisted",
    expires_in_days: int | None = None,
) -> Share:
    """Make a link to runs that exist; ``NotFound`` (unknown-run) names the first that doesn't."""
    for run_id in run_ids:
        get_run(session, run_id)
    created = now()
    share = Share(
        token=secrets.token_urlsafe(16),
        run_ids=list(run_ids),
        view=dict(view or {}),
        path=path,
        visibility=visibility,
        created_at=created,
        expires_at=None if expires_in_days is None else created + timedelta(days=expires_in_days),
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


def everything(session: Session) -> list[Share]:
    """All links, the newest first, revoked and expired ones too."""
    return list(session.scalars(select(Share).order_by(Share.created_at.desc(), Share.token)))


def revoke(session: Session, token: str) -> Share:
    """Close a link for good; the time of the first revocation stands. ``NotFound`` where there is none."""
    share = session.get(Share, token)
    if share is None:
        raise NotFound("There is no such link.", "See the list of shares.", code="unknown-share")
    share.revoked_at = share.revoked_at or now()
    session.flush()
    return share
