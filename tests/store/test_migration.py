"""A database of the first version is brought up to date with everything in it."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
from alembic import command
from safetensors.numpy import save
from sqlalchemy import text

from headscope.analyses.request import Request
from headscope.settings import Settings
from headscope.store import artifacts, attempts, evaluations, marks, migrate, prompts, runs, shares, tasks
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


FIRST_ROWS = (
    """INSERT INTO artifacts (id, kind, content, created_at) VALUES
       ('p', 'arrays', :piece, '2026-01-05 10:00:00'), ('r', 'json', :result, '2026-01-05 10:00:00')""",
    """INSERT INTO runs (id, analysis, analysis_version, title, model, model_info, attention, task, params,
                         seeds, status, origin, headline, result_id, created_at) VALUES
       ('done', 'gone', 1, 'T', 'm', '{}', 'sdpa', NULL, :params, '[0]', 'done', 'local', :headline, 'r',
        '2026-01-05 10:00:00'),
       ('stopped', 'gone', 1, 'T', 'm', '{}', 'sdpa', 't', '{}', '[]', 'cancelled', 'local', NULL, NULL,
        '2026-01-05 11:00:00')""",
    """INSERT INTO attempts (run_id, number, status, kind, created_at, code_version, wall_seconds, result_id)
       VALUES
       ('done', 1, 'done', 'first', '2026-01-05 10:00:00', '0.1', 1.5, 'r'),
       ('stopped', 1, 'cancelled', 'first', '2026-01-05 11:00:00', '0.1', NULL, NULL)""",
    """INSERT INTO pieces (run_id, attempt, key, artifact_id, created_at)
       VALUES ('stopped', 1, 'zero', 'p', '2026-01-05 11:00:00')""",
    "INSERT INTO tasks (name, content, created_at) VALUES ('mine', :task, '2026-01-05 10:00:00')",
    """INSERT INTO evaluations (model, revision, task, task_hash, content, created_at)
       VALUES ('m', 'r', 't', 'h', :accuracy, '2026-01-05 10:00:00')""",
    "INSERT INTO marks (name, value, created_at) VALUES ('gallery', :mark, '2026-01-05 10:00:00')",
)
FIRST_VALUES = {
    "piece": zlib.compress(save({"limits": np.frombuffer(b"One.\nTwo.", np.uint8), "g": np.ones(2, "f4")})),
    "result": zlib.compress(b'{"values": {"n": 3}}'),
    "params": '{"n": 1}',
    "headline": '{"n": 2}',
    "task": '{"name": "mine"}',
    "accuracy": '{"accuracy": 0.5}',
    "mark": '{"version": 1}',
}


def test_every_table_of_the_first_version_is_read_as_it_was(settings: Settings) -> None:
    """A run that was stopped then goes on with the piece that it had."""
    _upgrade_to(settings, "0001")
    store = open_store(settings)
    with store.session() as session:
        for row in FIRST_ROWS:
            session.execute(text(row), {k: v for k, v in FIRST_VALUES.items() if f":{k}" in row})
    migrate.upgrade(settings)
    with store.session() as session:
        done, stopped = runs.get(session, "done"), runs.get(session, "stopped")
        assert (done.status, done.params, done.headline, done.wall_seconds) == (
            "done",
            {"n": 1},
            {"n": 2},
            1.5,
        )
        assert runs.result_json(session, "done") == {"values": {"n": 3}}
        (piece,) = attempts.pieces(session, stopped.id, 1).values()
        found = artifacts.get_piece(session, piece)
        assert found["limits"] == ["One.", "Two."]
        np.testing.assert_array_equal(found["g"], [1, 1])
        assert tasks.load_user_tasks(session) == [{"name": "mine"}]
        assert evaluations.get(session, "m", "r", "t", "h") == {"accuracy": 0.5}
        assert marks.get(session, "gallery") == {"version": 1}
    with store.session() as session:
        runs.delete(session, "stopped")
        assert runs.result_json(session, "done"), "clearing up spares what others name"
    store.close()


def _upgrade_to(settings: Settings, revision: str, move: Callable[..., None] = command.upgrade) -> None:
    store = open_store(settings)
    config = migrate._config()
    with migrate._one_at_a_time(store) as connection:
        config.attributes["connection"] = connection
        move(config, revision)
    store.close()
