"""Links: what they open, until when, and that the copy behind one goes when nobody may open it any more."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from headscope.analyses.request import Request
from headscope.errors import Gone, NotFound
from headscope.store import artifacts, runs, shares
from headscope.store.session import Store
from headscope.store.tables import Artifact, Share, now

Make = Callable[..., Request]
COPY = b'{"text": "a prompt"}'


def expire(session: Session, share: Share) -> None:
    """As if its days were over."""
    session.execute(
        update(Share).where(Share.token == share.token).values(expires_at=now() - timedelta(seconds=1))
    )


def copies(session: Session) -> int:
    return session.scalar(select(func.count()).select_from(Artifact)) or 0


def test_a_link_opens_what_it_was_made_of(store: Store, request_for: Make) -> None:
    with store.session() as session:
        for run_id in ("a" * 20, "b" * 20):
            runs.create_or_get(session, request_for(run_id), queue="cpu")
        made = shares.create(
            session, ["b" * 20, "a" * 20], view={"mode": "any"}, path="/compare", visibility="public"
        )
    with store.session() as session:
        found = shares.get(session, made.token)
        assert (found.run_ids, found.view) == (["b" * 20, "a" * 20], {"mode": "any"})
        assert (found.path, found.visibility, found.expires_at) == ("/compare", "public", None)
        assert shares.lab(session, found) is None


def test_a_link_to_what_is_not_there_is_not_made(store: Store, request_for: Make) -> None:
    with store.session() as session:
        runs.create_or_get(session, request_for(), queue="cpu")
    with store.session() as session, pytest.raises(NotFound, match="'none'") as error:
        shares.create(session, [request_for().id, "none", "neither"], lab=COPY)
    assert error.value.code == "unknown-run"
    with store.session() as session:
        assert shares.everything(session) == []
        assert copies(session) == 0


def test_tokens_are_long_and_never_the_same(store: Store) -> None:
    with store.session() as session:
        tokens = {shares.create(session, [], lab=COPY).token for _ in range(50)}
    assert len(tokens) == 50
    assert min(map(len, tokens)) >= 22  # 128 bits


def test_a_link_ends_when_its_days_are_over(store: Store) -> None:
    with store.session() as session:
        share = shares.create(session, [], lab=COPY, expires_in_days=30)
        assert share.expires_at == share.created_at + timedelta(days=30)
        assert shares.get(session, share.token)
        expire(session, share)
    with store.session() as session, pytest.raises(Gone) as error:
        shares.get(session, share.token)
    assert (error.value.status, error.value.code) == (410, "share-expired")


def test_a_revoked_copy_is_gone_at_once(store: Store) -> None:
    with store.session() as session:
        share = shares.create(session, [], lab=COPY)
        assert shares.lab(session, share) == COPY
        assert copies(session) == 1
        shares.revoke(session, share.token)
        assert copies(session) == 0
    with store.session() as session:
        with pytest.raises(Gone) as error:
            shares.get(session, share.token)
        assert error.value.code == "share-revoked"
        (listed,) = shares.everything(session)
        assert shares.lab(session, listed) is None


def test_the_first_revocation_stands(store: Store) -> None:
    with store.session() as session:
        share = shares.create(session, [], lab=COPY)
        first = shares.revoke(session, share.token).revoked_at
    with store.session() as session:
        assert shares.revoke(session, share.token).revoked_at == first
        with pytest.raises(NotFound) as error:
            shares.revoke(session, "none")
    assert error.value.code == "unknown-share"


def test_a_revoked_link_that_has_also_expired_says_that_it_was_revoked(store: Store) -> None:
    with store.session() as session:
        share = shares.create(session, [], lab=COPY, expires_in_days=1)
        shares.revoke(session, share.token)
        expire(session, share)
    with store.session() as session, pytest.raises(Gone) as error:
        shares.get(session, share.token)
    assert error.value.code == "share-revoked"


def test_an_expired_copy_goes_at_the_next_change(store: Store) -> None:
    with store.session() as session:
        share = shares.create(session, [], lab=COPY, expires_in_days=1)
        expire(session, share)
        assert copies(session) == 1
    with store.session() as session:
        shares.create(session, [], lab=b"another")
        assert copies(session) == 1
        assert {row.lab_id is None for row in shares.everything(session) if row.token == share.token} == {
            True
        }


def test_two_links_to_the_same_copy_are_each_their_own(store: Store) -> None:
    with store.session() as session:
        one, other = (shares.create(session, [], lab=COPY) for _ in range(2))
        assert (one.lab_id, copies(session)) == (other.lab_id, 1)
        shares.revoke(session, one.token)
        assert shares.lab(session, shares.get(session, other.token)) == COPY
        shares.revoke(session, other.token)
        assert copies(session) == 0


def test_copies_survive_the_clearing_up_after_runs(store: Store) -> None:
    with store.session() as session:
        share = shares.create(session, [], lab=COPY)
        artifacts.put_json(session, "of nobody")
        artifacts.drop_unused(session)
        assert shares.lab(session, share) == COPY


def test_links_are_listed_the_newest_first_whatever_became_of_them(store: Store) -> None:
    with store.session() as session:
        made = [shares.create(session, []) for _ in range(3)]
        for days, share in enumerate(made):
            created = datetime(2026, 1, 1 + days, tzinfo=UTC)
            session.execute(update(Share).where(Share.token == share.token).values(created_at=created))
        shares.revoke(session, made[2].token)
        expire(session, made[1])
    with store.session() as session:
        assert [row.token for row in shares.everything(session)] == [share.token for share in reversed(made)]


def test_instants_are_utc_wherever_they_were_told(store: Store) -> None:
    """SQLite has no time zones, Postgres answers in the session's own."""
    noon = datetime(2026, 7, 1, 14, 0, 0, 250, tzinfo=timezone(timedelta(hours=2)))
    with store.session() as session:
        session.add(Share(token="t", run_ids=[], view={}, created_at=noon, expires_at=noon))
    with store.session() as session:
        found = session.get_one(Share, "t")
        assert found.created_at == noon
        assert found.created_at.utcoffset() == timedelta(0)
        assert found.revoked_at is None
        later = select(Share.token).where(Share.expires_at > noon.astimezone(UTC) - timedelta(seconds=1))
        assert session.scalar(later) == "t"
