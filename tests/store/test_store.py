from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import inspect, text, update

from headscope.analyses.request import Request
from headscope.errors import Invalid, NotFound, Refused, Unavailable
from headscope.settings import Settings
from headscope.store import artifacts, evaluations, marks, migrate, runs, shares, tasks, workers
from headscope.store.session import Store, open_store
from headscope.store.tables import Base, Share, Worker, now
from services.postgres import PostgresServer

Make = Callable[..., Request]


def test_all_tables_are_made_beside_those_of_the_engine(store: Store) -> None:
    assert set(Base.metadata.tables) <= set(inspect(store.engine).get_table_names())
    assert migrate.revision(store) == migrate.head()
    schema = None if store.kind == "sqlite" else "dbos"
    assert "workflow_status" in inspect(store.engine).get_table_names(schema=schema)


def test_the_scripts_make_what_the_classes_say(store: Store) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.runtime.migration import MigrationContext

    def ours(thing: object, name: str | None, kind: str, reflected: bool, compare_to: object) -> bool:
        return kind != "table" or name in Base.metadata.tables

    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_object": ours, "compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


MIGRATE = """
import sys
from headscope.settings import Settings
from headscope.store import migrate
settings = Settings.model_validate_json(sys.argv[1])
sys.stdin.readline()
migrate.upgrade(settings)
"""


def test_two_processes_may_migrate_at_once(settings: Settings) -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", MIGRATE, settings.model_dump_json()],
            stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={"PYTHONPATH": str(_backend())},
        )
        for _ in range(2)
    ]  # fmt: skip
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        _, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
    store = open_store(settings)
    assert migrate.revision(store) == migrate.head()
    store.close()


def test_migrating_again_is_quick_and_keeps_what_is_there(
    store: Store, settings: Settings, request_for: Make
) -> None:
    with store.session() as session:
        runs.create_or_get(session, request_for(), queue="cpu")
    migrate.upgrade(settings)
    with store.session() as session:
        assert runs.get(session, request_for().id).status == "queued"


def test_tables_of_a_newer_version_are_refused(store: Store, settings: Settings) -> None:
    with store.session() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(Refused) as error:
        migrate.upgrade(settings)
    assert error.value.code == "database-newer"


def test_arrays_survive_with_nan_and_without_pickle(store: Store) -> None:
    arrays = {
        "f4": np.array([[np.nan, np.inf], [-0.0, 1e-30]], "f4"),
        "i8": np.arange(3),
        "b": np.array([True, False]),
        "none": np.zeros((0, 4), "f4"),
        "transposed": np.arange(6, dtype="f4").reshape(2, 3).T,
    }
    with store.session() as session:
        name = artifacts.put_piece(session, arrays)
        assert artifacts.put_piece(session, arrays) == name
    with store.session() as session:
        kept = artifacts.get_piece(session, name)
    for key, array in arrays.items():
        np.testing.assert_array_equal(kept[key], array)
        assert kept[key].dtype == array.dtype


def test_words_that_a_piece_kept_as_bytes_are_read_as_what_they_said(store: Store) -> None:
    """A run that an earlier version began goes on with the pieces that it has."""
    before = {
        "limits": np.frombuffer(b"Positions are left out.\nNorms, too.", np.uint8),
        "about": np.frombuffer(b'{"name": "plural", "chance": 0.05}', np.uint8),
        "names": np.frombuffer(b'[[3, null, "ff"]]', np.uint8),
        "words": np.frombuffer(b'{"prompt": [[1, "a", "61"]]}', np.uint8),
        "gated_task": np.frombuffer(b"induction", np.uint8),
        "source": np.array([0, 2], np.uint8),
    }
    words = {
        "limits": ["Positions are left out.", "Norms, too."],
        "about": {"name": "plural", "chance": 0.05},
        "names": [[3, None, "ff"]],
        "words": {"prompt": [[1, "a", "61"]]},
        "gated_task": "induction",
    }
    now = {**words, "source": before["source"]}
    with store.session() as session:
        for kept in (before, now):
            found = artifacts.get_piece(session, artifacts.put_piece(session, kept))
            assert {name: found[name] for name in words} == words
            np.testing.assert_array_equal(found["source"], [0, 2])

        probe = {"names": np.frombuffer(b"is\nare", np.uint8)}
        assert artifacts.get_piece(session, artifacts.put_piece(session, probe)) == {"names": ["is", "are"]}


def test_a_share_opens_until_it_is_revoked_or_expires(store: Store, request_for: Make) -> None:
    with store.session() as session:
        runs.create_or_get(session, request_for(), queue="cpu")
        share = shares.create(session, [request_for().id], view={"threshold": "0.7"}, expires_in_days=1)
        other = shares.create(session, [request_for().id])
    assert len(share.token) >= 22
    with store.session() as session:
        assert shares.get(session, share.token).view == {"threshold": "0.7"}
        assert {row.token for row in shares.everything(session)} == {share.token, other.token}
        shares.revoke(session, other.token)
        session.execute(
            update(Share).where(Share.token == share.token).values(expires_at=now() - timedelta(1))
        )
    with store.session() as session:
        for token, code in (
            (share.token, "share-expired"),
            (other.token, "share-revoked"),
            ("x", "unknown-share"),
        ):
            with pytest.raises(NotFound) as error:
                shares.get(session, token)
            assert error.value.code == code
    with store.session() as session, pytest.raises(NotFound):
        shares.create(session, ["no-such-run"])


def test_tasks_evaluations_and_marks_are_kept(store: Store) -> None:
    with store.session() as session:
        tasks.add(session, "mine", {"name": "mine", "rows": [["ä", "ö"]]})
        evaluations.put(session, "m", "r", "t", "h", {"accuracy": 0.5})
        evaluations.put(session, "m", "r", "t", "h", {"accuracy": 0.75})
        marks.put(session, "gallery", {"version": 1})
    with store.session() as session:
        assert tasks.load_user_tasks(session) == [{"name": "mine", "rows": [["ä", "ö"]]}]
        assert evaluations.get(session, "m", "r", "t", "h") == {"accuracy": 0.75}
        assert evaluations.get(session, "m", "other", "t", "h") is None
        assert marks.get(session, "gallery") == {"version": 1}
        with pytest.raises(Refused):
            tasks.add(session, "mine", {})
        tasks.remove(session, "mine")
        with pytest.raises(NotFound):
            tasks.remove(session, "mine")


def test_a_worker_is_alive_while_its_heart_beats(store: Store) -> None:
    with store.session() as session:
        workers.register(session, "w1", host="h", device="cpu", queue="cpu", patience=0.4)
        workers.register(session, "w2", host="h", device="cpu", queue="cpu", patience=60)
        workers.register(session, "cli", host="h", device="cpu", queue="cpu", kind="foreground")
    with store.session() as session:
        assert {worker.id for worker in workers.alive(session)} == {"w1", "w2"}
    time.sleep(0.5)
    with store.session() as session:
        assert [worker.id for worker in workers.alive(session)] == ["w2"]
        assert [worker.id for worker in workers.dead(session)] == ["w1"]
        assert workers.beat(session, "w1", models=["tiny"])
        assert not workers.beat(session, "unknown")
    with store.session() as session:
        assert {worker.id: worker.models for worker in workers.alive(session)} == {"w1": ("tiny",), "w2": ()}
        workers.retire(session, "w2")
        session.execute(update(Worker).where(Worker.id == "w1").values(heartbeat=1.0))
        workers.forget_old(session)
        assert workers.everyone(session) == []


def test_a_locked_database_says_so_and_loses_nothing(tmp_path: Path, request_for: Make) -> None:
    settings = Settings(data_dir=tmp_path)
    migrate.upgrade(settings)
    store = open_store(settings, patience=0.2)
    holder = sqlite3.connect(tmp_path / "headscope.db", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with pytest.raises(Unavailable) as error, store.session() as session:
        runs.create_or_get(session, request_for(), queue="cpu")
    assert error.value.code == "database-locked"
    holder.execute("COMMIT")
    holder.close()
    with store.session() as session:
        assert runs.create_or_get(session, request_for(), queue="cpu").new
    store.close()


def test_a_full_disk_says_so_and_loses_nothing(tmp_path: Path, request_for: Make) -> None:
    settings = Settings(data_dir=tmp_path)
    migrate.upgrade(settings)
    store = open_store(settings)
    with store.session() as session:
        runs.create_or_get(session, request_for(), queue="cpu")
    with store.engine.connect() as connection:  # SQLite says the same when its file may not grow
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
    noise = np.random.default_rng(0).random(100_000)
    with pytest.raises(Unavailable) as error, store.session() as session:
        artifacts.put_piece(session, {"noise": noise})
    assert error.value.code == "disk-full"
    with store.session() as session:
        assert runs.get(session, request_for().id).status == "queued"
    store.close()


def test_missing_tables_and_odd_files_say_so(tmp_path: Path) -> None:
    store = open_store(Settings(data_dir=tmp_path))
    with pytest.raises(Unavailable) as error, store.session() as session:
        runs.get(session, "a")
    assert error.value.code == "database-not-migrated"
    store.close()
    (tmp_path / "text.db").write_text("no database " * 400)
    with pytest.raises(Unavailable) as error:
        migrate.upgrade(Settings(database_url=f"sqlite:///{tmp_path / 'text.db'}"))
    assert error.value.code == "database-damaged"


@pytest.mark.parametrize("url", ["mysql://root@localhost/x", "no url at all"])
def test_other_databases_are_refused_by_name(url: str) -> None:
    with pytest.raises(Invalid) as error:
        open_store(Settings(database_url=url))
    assert error.value.code == "database-url"


def test_a_stopped_postgres_says_so_and_comes_back(request_for: Make) -> None:
    server = PostgresServer()
    try:
        server.start()
        settings = Settings(database_url=server.new_database())
        migrate.upgrade(settings)
        store = open_store(settings)
        with store.session() as session:
            runs.create_or_get(session, request_for(), queue="cpu")
        server.stop()
        with pytest.raises(Unavailable) as error, store.session() as session:
            runs.get(session, request_for().id)
        assert error.value.code == "database-down"
        server.start()
        assert store.patiently(lambda session: runs.get(session, request_for().id)).status == "queued"
        store.close()
    finally:
        server.remove()


def _backend() -> Path:
    import headscope

    return Path(headscope.__file__).parents[1]
