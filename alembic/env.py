"""Where Alembic meets our tables: run in-process by ``store.migrate``, or by the ``alembic`` command.

DBOS keeps its tables in the same database and migrates them itself; Alembic sees only ours.
"""

from __future__ import annotations

from typing import Any

from alembic import context

from headscope.settings import Settings
from headscope.store.session import open_store
from headscope.store.tables import Base


def ours(thing: Any, name: str | None, kind: str, reflected: bool, compare_to: Any) -> bool:
    return kind != "table" or name in Base.metadata.tables


def migrate(connection: Any) -> None:
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        include_object=ours,
        render_as_batch=True,
        compare_type=True,
    )
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    migrate(given)
else:
    store = open_store(Settings())
    with store.engine.connect() as connection:
        migrate(connection)
        connection.commit()
