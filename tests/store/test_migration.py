"""A database of the first version is brought up to date with everything in it."""

from __future__ import annotations

from collections.abc import Callable

from alembic import command
from sqlalchemy import text

from headscope.analyses.request import Request
from headscope.settings import Settings
from headscope.store import migrate, prompts, runs, shares
from headscope.store.session import Store, open_store
from headscope.tasks.prompts import prompt_set

Make = Callable[..., Request]

FIRST_SHARE = """
INSERT INTO shares (token, run_ids, view, path, visibility, created_at, expires_at, revoked_at)
VALUES ('t', '["aaaaaaaaaaaaaaaaaaaa"]', '{"threshold": "0.7"}', '/runs/a', 'public',
        '2026-01-05 10:00:00', NULL, NULL)
"""


def test_what_the_first_version_kept_is_still_there(settings: Settings, request_for: Make) -> None:
    _upgrade_to(settings, "0001")
    store = open_store(settings)
    with store.session() as session:
        runs.create_or_get(session, request_for(), queue="cpu")
        session.execute(text(FIRST_SHARE))
    migrate.upgrade(settings)
    assert migrate.revision(store) == migrate.head() != "0001"
    with store.session() as session:
        assert runs.get(session, request_for().id).status == "queued"
        share = shares.get(session, "t")
        assert (share.run_ids, share.view, share.lab_id) == ([request_for().id], {"threshold": "0.7"}, None)
        kept = prompts.add(session, prompt_set(["a b c"]))
        assert kept.new
    with store.session() as session:
        assert prompts.load(session, kept.row.id).texts == ("a b c",)
    store.close()


def test_it_goes_back_and_forth(store: Store, settings: Settings) -> None:
    with store.session() as session:
        session.execute(text(FIRST_SHARE))
    _upgrade_to(settings, "0001", command.downgrade)
    assert migrate.revision(store) == "0001"
    migrate.upgrade(settings)
    with store.session() as session:
        assert shares.get(session, "t").visibility == "public"


def _upgrade_to(settings: Settings, revision: str, move: Callable[..., None] = command.upgrade) -> None:
    store = open_store(settings)
    config = migrate._config()
    with migrate._one_at_a_time(store) as connection:
        config.attributes["connection"] = connection
        move(config, revision)
    store.close()
