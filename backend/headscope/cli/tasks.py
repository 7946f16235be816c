"""``headscope tasks``: what a model can be asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headscope.cli import console, files

if TYPE_CHECKING:
    from headscope.core.model.tokens import Token
    from headscope.tasks.catalogue import TaskCatalogue

app = typer.Typer(help="Tasks: list, show, add, delete.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The task's name.")]


@app.command("list")
def list_tasks(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """List the tasks, built in and yours."""
    from rich.table import Table

    tasks = _catalogue().all()
    if as_json:
        console.write_json([_described(task) for task in tasks])
        return
    table = Table("task", "what it asks", "rows", "from", box=None, pad_edge=False)
    for task in tasks:
        rows = "drawn" if task.n_rows is None else str(task.n_rows)
        table.add_row(task.name, task.title, rows, task.origin)
    console.out_console().print(table)


@app.command("show")
def show(
    name: Name,
    model: Annotated[str, typer.Option(help="The model whose tokenizer is used.")] = "headscope-2l",
    examples: Annotated[int, typer.Option(min=1, max=100, help="How many rows.")] = 3,
) -> None:
    """Show a task's rows as the model reads them: token by token, targets marked."""
    from rich.text import Text

    from headscope.models.catalogue import Catalogue

    task = _catalogue().get(name)
    models = Catalogue(console.settings())
    tokenizer = models.tokenizer(model)
    out = console.out_console()
    out.print(f"[bold]{task.title}[/] · {task.source} · {task.licence}", highlight=False)
    if task.description:
        out.print(task.description, markup=False)
    for example in task.examples(tokenizer, "train", limit=examples, n_ctx=models.info(model).n_ctx):
        line = Text()
        for position, token in enumerate(tokenizer.sequence(example.tokens)):
            line.append(_visible(token), style="bold reverse" if position in example.targets else "")
            line.append("·", style="dim")
        out.print()
        out.print(line)


@app.command("add")
def add(
    file: Annotated[
        Path, typer.Argument(help="JSONL or CSV with prompt, target and optionally counterfactual.")
    ],
    name: Annotated[str | None, typer.Option(help="Its name; the file's by default.")] = None,
    title: Annotated[str, typer.Option(help="Its title in words.")] = "",
    description: Annotated[str, typer.Option(help="What it asks.")] = "",
    template: Annotated[
        str | None,
        typer.Option(help=r'How a row is asked, e.g. "Q: {prompt}\nA: {target}"; \n is a new line.'),
    ] = None,
    shots: Annotated[
        int | None, typer.Option(min=0, help="In-context examples before each question.")
    ] = None,
    instruction: Annotated[
        str,
        typer.Option(help="An instruction for the same in words: the task's second form, NAME-instruction."),
    ] = "",
) -> None:
    """Add a task of your own."""
    from headscope.cli.store import transaction
    from headscope.store import tasks as kept
    from headscope.tasks.forms import with_forms
    from headscope.tasks.stored import to_json
    from headscope.tasks.upload import parse_upload

    settings = console.settings()
    content = files.read(file, settings.max_upload_bytes, "a .jsonl, .csv or .tsv file")
    task = parse_upload(
        name or file.stem.lower().replace("_", "-"),
        file.name,
        content,
        title=title,
        description=description,
        template=template.replace("\\n", "\n") if template else None,
        shots=shots,
        instruction=instruction.replace("\\n", "\n"),
        taken=[kept.name for kept in _catalogue().all()],
        max_bytes=settings.max_upload_bytes,
    )
    with transaction(settings) as session:
        kept.add(session, task.name, to_json(task))
    names = " and ".join(form.name for form in with_forms(task))
    console.err_console().print(f"Task {names}: {task.n_rows} rows.")
    if task.unused:
        console.err_console().print(console.plain(task.unused))


@app.command("delete")
def delete(name: Name) -> None:
    """Delete a task of your own; the runs that used it stay."""
    from headscope.cli.store import transaction
    from headscope.store import tasks as kept

    with transaction(console.settings()) as session:
        kept.remove(session, name)
    console.err_console().print(f"Task {name} is deleted.")


def _catalogue() -> TaskCatalogue:
    from headscope.cli.store import transaction
    from headscope.store.tasks import load_user_tasks
    from headscope.tasks.catalogue import TaskCatalogue

    with transaction(console.settings()) as session:
        return TaskCatalogue(load_user_tasks(session))


def _described(task: Any) -> dict[str, Any]:
    fields = (
        "name",
        "title",
        "description",
        "kind",
        "origin",
        "source",
        "licence",
        "n_rows",
        "template",
        "shots",
    )
    return {field: getattr(task, field) for field in fields} | {"content_hash": task.content_hash}


def _visible(token: Token) -> str:
    """A token for a terminal: its text, line ends as ↵; without a text of its own what it is called."""
    text = None if token.glyph else token.text
    return f"<{token.label}>" if text is None else text.replace("\n", "↵\n")
