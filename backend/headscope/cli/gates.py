"""``headscope gates``: gate vectors that are kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from headscope.cli import console, files
from headscope.cli.gates_at_work import apply, bake, evaluate

if TYPE_CHECKING:
    from headscope.core.gating.gate_vector import GateVector

app = typer.Typer(help="Gate vectors: save, apply, evaluate, bake into weights.", no_args_is_help=True)

app.command("apply")(apply)
app.command("evaluate")(evaluate)
app.command("bake")(bake)

Id = Annotated[str, typer.Argument(metavar="GATES", help="A gate vector's id.")]
KINDS = "a .json, .csv, .tsv or .safetensors file"


@app.command("list")
def list_gates(
    model: Annotated[str | None, typer.Option(help="Only this model's.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """List saved gates, newest first."""
    from rich.table import Table

    from headscope.cli.store import transaction
    from headscope.store import gates

    with transaction(console.settings()) as session:
        vectors = [gates.vector_of(row) for row in gates.everything(session, model)]
    if as_json:
        console.write_json([described(vector) for vector in vectors])
        return
    table = Table("gates", "name", "model", "closed", "from", box=None, pad_edge=False)
    for vector in vectors:
        closed = f"{int((vector.gates < 0.5).sum())} of {vector.gates.size}"
        table.add_row(
            vector.id,
            console.plain(vector.name),
            vector.model,
            closed,
            console.plain(vector.origin),
        )
    console.out_console().print(table)


@app.command("add")
def add(
    file: Annotated[
        Path, typer.Argument(help="JSON, a table (layer,head,gate) or safetensors (tensor gates).")
    ],
    name: Annotated[str, typer.Option(help="Their name; the file's own by default.")] = "",
    model: Annotated[str, typer.Option(help="The model they belong to; the file's own by default.")] = "",
) -> None:
    """Save the gates in a file; prints their id."""
    from headscope.cli.store import transaction
    from headscope.models.catalogue import Catalogue
    from headscope.store import gates
    from headscope.store.gate_source import from_file

    settings = console.settings()
    content = files.read(file, settings.max_upload_bytes, KINDS)
    vector = from_file(file.name, content, Catalogue(settings).info, name=name, model=model)
    with transaction(settings) as session:
        gates.add(session, vector)
    console.err_console().print(f"{console.plain(vector.name)}: {vector.gates.size} gates of {vector.model}.")
    typer.echo(vector.id)


@app.command("take")
def take(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A finished run's id.")],
    preset: Annotated[
        str | None, typer.Option(help="Which of its gates, e.g. minus; needed where it has several.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of this seed; the mean over seeds by default.")] = None,
    threshold: Annotated[
        float, typer.Option(min=0.01, max=1, help="Score from which a head has a role.")
    ] = 0.5,
) -> None:
    """Save gates that a run found: G+ or G− of a gating run, the sufficient heads; prints their id."""
    from headscope.cli.store import transaction
    from headscope.models.catalogue import Catalogue
    from headscope.store import gates, run_gates, runs

    settings = console.settings()
    with transaction(settings) as session:
        found = runs.get(session, run)
        model = Catalogue(settings).info(found.model)
        vector = run_gates.take(session, found, model, preset, seed, threshold)
        gates.add(session, vector)
    console.err_console().print(f"{console.plain(vector.name)}: {console.plain(vector.origin)}")
    typer.echo(vector.id)


@app.command("show")
def show(
    gates: Id,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Show a gate vector, one line per layer: open gates as 1, closed ones as ·."""
    vector = _loaded(gates)
    if as_json:
        console.write_json({**described(vector), "gates": vector.gates.tolist()})
        return
    out = console.out_console()
    out.print(f"[bold]{console.plain(vector.name)}[/] · {vector.model} · {console.plain(vector.origin)}")
    out.print("layer  heads 0 …")
    for layer, row in enumerate(vector.gates):
        out.print(f"{layer:5}  {' '.join(_gate(float(gate)) for gate in row)}", soft_wrap=True)


@app.command("export")
def export(
    gates: Id,
    format: Annotated[str, typer.Option(help="json, csv or safetensors.")] = "json",  # noqa: A002
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Output file; - is stdout.")
    ] = None,
) -> None:
    """Write a gate vector as a file."""
    from headscope.core.gating.gate_file import (
        FORMATS,
        Format,
        filename,
        write_gates,
    )
    from headscope.errors import Invalid

    if format not in FORMATS:
        raise Invalid(f"There is no format {format!r}.", f"Known: {', '.join(FORMATS)}.", code="bad-format")
    vector, kind = _loaded(gates), cast("Format", format)
    files.write(output or Path(filename(vector, kind)), write_gates(vector, kind))


@app.command("delete")
def delete(gates: Id) -> None:
    """Delete saved gates; runs that used them keep their results."""
    from headscope.cli.store import transaction
    from headscope.store import gates as kept

    with transaction(console.settings()) as session:
        kept.remove(session, gates)
    console.err_console().print(f"Gates {gates} are deleted.")


def described(vector: GateVector) -> dict[str, Any]:
    """A gate vector as plain JSON values, without the gates."""
    fields = ("id", "name", "model", "revision", "origin", "ablation")
    return {name: getattr(vector, name) for name in fields} | {"closed": int((vector.gates < 0.5).sum())}


def _loaded(vector_id: str) -> GateVector:
    from headscope.cli.store import transaction
    from headscope.store import gates

    with transaction(console.settings()) as session:
        return gates.load(session, vector_id)


def _gate(value: float) -> str:
    return {0.0: "  · ", 1.0: "  1 "}.get(value, f"{value:.2f}")
