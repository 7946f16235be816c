"""``headscope db``: the database's tables."""

from __future__ import annotations

import typer

from headscope.cli import console

app = typer.Typer(help="The database's tables.", no_args_is_help=True)


@app.callback()
def _db() -> None:
    """The database's tables."""


@app.command("upgrade")
def upgrade() -> None:
    """Bring the tables up to date; `serve` and `worker` do it at every start."""
    from headscope.store.opening import opened

    with opened(console.settings()) as store:
        kind = "Postgres" if store.kind == "postgresql" else "SQLite"
    console.err_console().print(f"The {kind} database is up to date.")
