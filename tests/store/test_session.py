"""Transactions, the one clock, and what is said where a database can't be had."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, select
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session

from headscope.errors import Invalid, Unavailable
from headscope.settings import Settings
from headscope.store import marks, migrate
from headscope.store.clock import database_clock
from headscope.store.opening import opened
from headscope.store.session import Store, database_url, open_store, saying_what_is_wrong
from headscope.store.tables import Mark


def test_a_transaction_is_whole_or_not_at_all(store: Store) -> None:
    def half_way(session: Session) -> None:
        marks.put(session, "first", {})
        session.flush()
        raise RuntimeError("half-way")

    with pytest.raises(RuntimeError, match="half-way"), store.session() as session:
        half_way(session)
    with store.session() as session:
        assert marks.get(session, "first") is None


def test_rows_are_read_after_their_session_ended(store: Store) -> None:
    with store.session() as session:
        marks.put(session, "first", {"n": 1})
    with store.session() as session:
        row = session.get_one(Mark, "first")
    assert row.value == {"n": 1}


def test_a_broken_rule_is_no_trouble_of_the_database(store: Store) -> None:
    """A fault of ours stays what it is, and isn't told as the database's."""
    with store.session() as session:
        marks.put(session, "first", {})
    with pytest.raises(IntegrityError), store.session() as session:
        session.add(Mark(name="first", value={}))


def test_all_that_use_a_database_share_its_clock(store: Store) -> None:
    with store.session() as session:
        first = session.scalar(select(database_clock()))
    with store.session() as session:
        then = session.scalar(select(database_clock()))
    assert isinstance(first, float)
    assert isinstance(then, float)
    assert first <= then
    assert first > 1.7e9  # seconds since 1970, in this century


# -- trying again --------------------------------------------------------------------------------------


def failing(times: int, code: str) -> tuple[list[int], Callable[[Session], str]]:
    """Work that can't be done so many times, and where its calls are counted."""
    calls: list[int] = []

    def work(session: Session) -> str:
        calls.append(1)
        if len(calls) <= times:
            raise Unavailable("It is not there.", "Wait.", code=code)
        return "done"

    return calls, work


@pytest.mark.parametrize("code", ["database-locked", "database-down", "database-busy"])
def test_what_passes_is_waited_for(store: Store, code: str) -> None:
    calls, work = failing(2, code)
    assert store.patiently(work) == "done"
    assert len(calls) == 3


def test_what_does_not_pass_is_said_at_once(store: Store) -> None:
    for code, seconds in (("disk-full", 60.0), ("database-locked", 0.0)):
        calls, work = failing(1, code)
        with pytest.raises(Unavailable) as error:
            store.patiently(work, seconds)
        assert error.value.code == code
        assert len(calls) == 1


# -- what drivers say ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("database is locked", "database-locked"),
        ("database or disk is full", "disk-full"),
        ('could not extend file "base/1": No space left on device', "disk-full"),
        ("attempt to write a readonly database", "database-read-only"),
        ("cannot execute INSERT in a read-only transaction", "database-read-only"),
        ("no such table: runs", "database-not-migrated"),
        ('relation "runs" does not exist', "database-not-migrated"),
        ("no such column: shares.lab_id", "database-not-migrated"),
        ('column shares.lab_id of relation "shares" does not exist', "database-not-migrated"),
        ("database disk image is malformed", "database-damaged"),
        ("file is not a database", "database-damaged"),
        ("unable to open database file", "database-missing"),
        ("disk I/O error", "database-missing"),
    ],
)
def test_each_trouble_has_a_code_and_a_remedy(said: str, code: str) -> None:
    url = create_engine("sqlite:////data/headscope.db").url
    with pytest.raises(Unavailable) as error, saying_what_is_wrong(url):
        raise DBAPIError("SELECT 1", {}, Exception(said))
    assert error.value.code == code
    assert error.value.remedy
    assert isinstance(error.value.__cause__, DBAPIError)


def test_what_nobody_knows_stays_what_it_is() -> None:
    with pytest.raises(DBAPIError, match="syntax error"), saying_what_is_wrong(engine("sqlite://").url):
        raise DBAPIError("SELEKT 1", {}, Exception("syntax error"))


def test_no_password_is_ever_said() -> None:
    url = engine("postgresql+psycopg://me:secret@127.0.0.1:1/none").url
    for said in ("No space left on device", "read-only", "malformed"):
        with pytest.raises(Unavailable) as error, saying_what_is_wrong(url):
            raise DBAPIError("SELECT 1", {}, Exception(said))
        assert "secret" not in str(error.value)
    store = open_store(Settings(database_url="postgresql://me:secret@127.0.0.1:1/none"))
    with pytest.raises(Unavailable) as error, store.session() as session:
        session.scalar(select(Mark.name))
    assert error.value.code == "database-down"
    assert "secret" not in str(error.value)
    assert "127.0.0.1:1/none" in str(error.value)
    store.close()


def test_connections_that_are_all_busy() -> None:
    with pytest.raises(Unavailable) as error, saying_what_is_wrong(engine("sqlite://").url):
        raise PoolTimeout
    assert error.value.code == "database-busy"


def engine(url: str) -> Engine:
    return create_engine(url)


# -- addresses ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    ["postgresql://a:b@h/d", "postgresql+psycopg://a:b@h/d", "postgresql+psycopg2://a:b@h/d"],
)
def test_postgres_is_spoken_to_by_our_driver_and_named_as_the_engine_wants(url: str) -> None:
    settings = Settings(database_url=url)
    said = database_url(settings)
    assert said.render_as_string(hide_password=False) == "postgresql+psycopg://a:b@h/d"
    assert migrate.engine_url(settings) == "postgresql://a:b@h/d"


@pytest.mark.parametrize("url", ["mysql://h/d", "oracle://h/d"])
def test_another_database_is_refused_by_its_name(url: str) -> None:
    with pytest.raises(Invalid, match=url.split(":")[0]) as error:
        database_url(Settings(database_url=url))
    assert error.value.code == "database-url"


def test_a_data_folder_is_made_with_all_above_it(tmp_path: Path) -> None:
    with opened(Settings(data_dir=tmp_path / "a" / "b")) as store, store.session() as session:
        marks.put(session, "first", {})
    assert (tmp_path / "a" / "b" / "headscope.db").is_file()


def test_a_data_folder_that_can_not_be_is_said_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for below in ("file", "file/below"):
        settings = Settings(data_dir=tmp_path / below)
        for start in (open_store, _enter):
            with pytest.raises(Unavailable, match="can't be created") as error:
                start(settings)
            assert error.value.code == "data-folder"
            assert "HEADSCOPE_DATA_DIR" in error.value.remedy


def _enter(settings: Settings) -> None:
    with opened(settings):
        pass
