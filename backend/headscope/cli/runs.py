"""``headscope runs``: what was computed, waits or computes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from headscope.cli import console

if TYPE_CHECKING:
    from headscope.store.tables import Run

app = typer.Typer(help="Runs: list, show, cancel, delete.", no_args_is_help=True)

RunId = Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or enough of its first letters.")]


@app.command("list")
def list_runs(
    model: Annotated[str | None, typer.Option(help="Only this model's.")] = None,
    task: Annotated[str | None, typer.Option(help="Only this task's.")] = None,
    analysis: Annotated[str | None, typer.Option(help="Only this analysis'.")] = None,
    status: Annotated[str | None, typer.Option(help="queued, running, done, failed or cancelled.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many, newest first.")] = 30,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """List runs, newest first."""
    from rich.table import Table

    from headscope.cli.store import transaction
    from headscope.store import runs

    with transaction(console.settings()) as session:
        found, total = runs.find(
            session, model=model, task=task, analysis=analysis, status=status, limit=limit
        )
        rows = [described(run) for run in found]
    if as_json:
        console.write_json({"runs": rows, "total": total})
        return
    table = Table("run", "analysis", "model", "task", "status", "seeds", "started", box=None, pad_edge=False)
    for row in rows:
        status = row["status"] if row["origin"] == "local" else f"{row['status']} (shipped)"
        table.add_row(
            row["id"], row["analysis"], row["model"], row["task"] or "–", status, str(len(row["seeds"])),
            row["created_at"][:16].replace("T", " "),
        )  # fmt: skip
    console.out_console().print(table)
    if total > len(rows):
        console.err_console().print(f"{total - len(rows)} more: --limit {total}")


@app.command("show")
def show(
    run: RunId,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Show one run: its parameters, attempts and headline numbers."""
    from headscope.cli.store import transaction
    from headscope.store import runs
    from headscope.web.present import reproduce_command

    with transaction(console.settings()) as session:
        found = runs.get(session, complete_id(session, run))
        row = {**described(found), "reproduce": reproduce_command(found)}
    if as_json:
        console.write_json(row)
        return
    out = console.out_console()
    out.print(" · ".join(word for word in (f"[bold]{row['title']}[/]", row["model"], row["task"]) if word))
    out.print(f"{row['id']}  {row['status']}")
    for name in ("params", "headline", "error"):
        if row[name]:
            out.print(f"\n[bold]{name}[/]")
            for key, value in row[name].items():
                out.print(f"  {key}: {value}", markup=False)
    for attempt in row["attempts"]:
        took = f"{attempt['wall_seconds']:.1f} s" if attempt["wall_seconds"] is not None else "–"
        out.print(f"\nattempt {attempt['number']}: {attempt['kind']}, {attempt['status']}, {took}")
    out.print(f"\nagain: {row['reproduce']}", markup=False, soft_wrap=True)


@app.command("cancel")
def cancel(run: RunId) -> None:
    """Ask a run to stop; finished pieces are kept, and starting it again resumes from them."""
    from headscope.cli.store import transaction
    from headscope.jobs.client import JobClient
    from headscope.store.tables import FINAL

    settings = console.settings()
    with transaction(settings) as session:
        run_id = complete_id(session, run)
    client = JobClient(settings)
    try:
        status = client.cancel(run_id).status
    finally:
        client.close()
    said = f"is {status}" if status in FINAL else "is asked to stop"
    console.err_console().print(f"Run {run_id} {said}.")


@app.command("delete")
def delete(
    run: RunId,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
) -> None:
    """Delete a run and all its results."""
    from headscope.cli.store import transaction
    from headscope.store import runs

    settings = console.settings()
    with transaction(settings) as session:
        run_id = runs.get(session, complete_id(session, run)).id
    if not yes:
        typer.confirm(f"Delete run {run_id} and its results?", abort=True, err=True)
    with transaction(settings) as session:
        runs.delete(session, run_id)
    console.err_console().print(f"Run {run_id} is deleted.")


def complete_id(session: Any, start: str) -> str:
    """The one run whose id begins so; ``start`` itself where none does, ``Invalid`` where several do."""
    from sqlalchemy import select

    from headscope.errors import Invalid
    from headscope.store.tables import Run

    fits = list(session.scalars(select(Run.id).where(Run.id.startswith(start, autoescape=True)).limit(2)))
    if len(fits) > 1 and start not in fits:
        raise Invalid(f"Several runs begin with {start!r}.", "Give more of the id.", code="ambiguous-run")
    return start if start in fits or not fits else fits[0]


def described(run: Run) -> dict[str, Any]:
    """A run as plain JSON values."""
    fields = (
        "id", "analysis", "title", "model", "task", "task_title", "preset", "params", "seeds", "status",
        "origin", "progress", "error", "headline", "code_version", "machine", "wall_seconds",
    )  # fmt: skip
    row = {name: getattr(run, name) for name in fields}
    row |= {name: _iso(getattr(run, name)) for name in ("created_at", "started_at", "finished_at")}
    row["attempts"] = [_attempt(attempt) for attempt in run.attempts]
    return row


def _attempt(attempt: Any) -> dict[str, Any]:
    fields = (
        "number",
        "kind",
        "status",
        "queue",
        "owner",
        "wall_seconds",
        "code_version",
        "machine",
        "drift",
    )
    return {name: getattr(attempt, name) for name in fields} | {
        "started_at": _iso(attempt.started_at),
        "finished_at": _iso(attempt.finished_at),
    }


def _iso(moment: Any) -> str | None:
    return moment.isoformat(timespec="seconds") if moment else None
