"""``headscope prompts``: prompts and batches that are kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headscope.cli import console, files

if TYPE_CHECKING:
    from headscope.settings import Settings
    from headscope.store.tables import Prompt

app = typer.Typer(help="Prompts: list, add, delete.", no_args_is_help=True)

KINDS = "a .txt, .jsonl, .csv or .tsv file"


@app.command("list")
def list_prompts(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """List saved prompts, newest first."""
    from rich.table import Table

    from headscope.cli.store import transaction
    from headscope.store import prompts

    with transaction(console.settings()) as session:
        rows = [described(row) for row in prompts.everything(session)]
    if as_json:
        console.write_json(rows)
        return
    table = Table("prompt", "name", "prompts", "characters", "begins", box=None, pad_edge=False)
    for row in rows:
        table.add_row(
            row["id"],
            console.plain(row["name"]),
            str(row["n"]),
            f"{row['characters']:,}",
            console.plain(row["beginning"][:60]),
        )
    console.out_console().print(table)


@app.command("add")
def add(
    file: Annotated[
        Path, typer.Argument(help="Text (one prompt), JSONL or CSV (one prompt per row), in UTF-8.")
    ],
    name: Annotated[str, typer.Option(help="Its name; the file's by default.")] = "",
) -> None:
    """Save a file's prompts; prints their id."""
    row = keep(console.settings(), file, name)
    many = f"{row.n:,} prompts" if row.n > 1 else "one prompt"
    console.err_console().print(f"{console.plain(row.name)}: {many}, {row.characters:,} characters.")
    typer.echo(row.id)


@app.command("delete")
def delete(
    prompt: Annotated[str, typer.Argument(metavar="PROMPT", help="A prompt's id.")],
) -> None:
    """Delete a saved prompt for good; runs keep their results, shares of the lab their copies."""
    from headscope.cli.store import transaction
    from headscope.store import prompts

    with transaction(console.settings()) as session:
        prompts.remove(session, prompt)
    console.err_console().print(f"Prompt {prompt} is deleted.")


def keep(settings: Settings, file: Path, name: str = "") -> Prompt:
    """Keep a file's prompts. Raises ``NotFound``, ``TooLarge`` and ``Invalid`` as reading them does."""
    from headscope.cli.store import transaction
    from headscope.store import prompts
    from headscope.tasks.promptfile import read_prompts

    limit = settings.max_upload_bytes
    found = read_prompts(file.name, files.read(file, limit, KINDS), name, max_bytes=limit)
    with transaction(settings) as session:
        return prompts.add(session, found).row


def described(row: Prompt) -> dict[str, Any]:
    """A kept prompt as plain JSON values, without its texts."""
    fields = ("id", "name", "kind", "n", "characters", "beginning")
    return {name: getattr(row, name) for name in fields} | {"created_at": row.created_at.isoformat()}
