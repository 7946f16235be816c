"""``headscope models``: which models there are and whether their weights are here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headscope.cli import console, known_models

if TYPE_CHECKING:
    from headscope.core.model.capabilities import Proof
    from headscope.models.catalogue import Catalogue

app = typer.Typer(help="Models: list, fetch, add, check, try.", no_args_is_help=True)


@app.command("list")
def list_models(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
    known: Annotated[
        bool, typer.Option("--known", help="Well-known models that can be added, and what they take.")
    ] = False,
) -> None:
    """List the models and whether their weights are here."""
    from rich.table import Table

    if known:
        known_models.list_known(as_json=as_json)
        return

    from headscope.models.catalogue import Catalogue

    entries = Catalogue(console.settings()).all()
    if as_json:
        console.write_json([_described(entry) for entry in entries])
        return
    table = Table("model", "title", "from", "here", "licence", box=None, pad_edge=False)
    for entry in entries:
        here = "yes" if entry.ready else f"no: {entry.remedy}"
        licence = f"{entry.licence}, {entry.terms.address}" if entry.terms else entry.licence
        table.add_row(entry.name, entry.title, entry.source, here, licence)
    console.out_console().print(table)


@app.command("fetch")
def fetch(
    name: Annotated[str, typer.Argument(help="A name of the list, or ORG/NAME on the Hugging Face hub.")],
    accept_terms: Annotated[
        bool, typer.Option("--accept-terms", help="Accept the model's terms of use, without being asked.")
    ] = False,
) -> None:
    """Get a model's weights; does nothing where they are here already."""
    from headscope.models.catalogue import Catalogue

    os.environ.setdefault("TQDM_DISABLE", "1")  # the libraries' own bars would run through ours
    catalogue = Catalogue(console.settings())
    accepted = accept_terms or _accepts_terms(catalogue, name)
    with _download() as report:
        folder = catalogue.fetch(name, report, accept_terms=accepted)
    console.err_console().print(f"{name} is in {folder}.")


def _accepts_terms(catalogue: Catalogue, name: str) -> bool:
    """Show the terms of a model that isn't here and ask; not asked where nobody can answer."""
    entry = catalogue.entries().get(name)
    if entry is None or entry.ready or entry.terms is None or not sys.stdin.isatty():
        return False
    say = console.err_console().print
    say(f"{entry.title}: the {entry.terms.name} apply.\n{entry.terms.address}")
    if entry.bytes_to_download and entry.bytes_needed:
        say(
            f"{entry.bytes_to_download / 1e6:,.0f} MB are downloaded; unpacking takes "
            f"{entry.bytes_needed / 1e9:.1f} GB of disk."
        )
    return typer.confirm("Do you accept these terms?", err=True)


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Its name.")],
    folder: Annotated[
        Path, typer.Argument(help="Folder with config.json, tokenizer.json and *.safetensors.")
    ],
) -> None:
    """Register a folder of weights under a name, once it is loaded and checked against the plain model."""
    from headscope.models.catalogue import Catalogue

    catalogue = Catalogue(console.settings())
    entry = catalogue.add(name, folder, lambda path: _try_out(catalogue, path, name))
    console.err_console().print(f"{entry.name} is added: {entry.title}.")


@app.command("check")
def check(
    name: Annotated[str, typer.Argument(help="A model's name, or a path to its folder.")],
    dtype: Annotated[str, typer.Option(help="The precision to check it in.")] = "float32",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Check a model against the plain one, anew; exit code 1 where something fails."""
    from headscope.messages import ProofOut
    from headscope.models.catalogue import Catalogue

    catalogue = Catalogue(console.settings())
    proof = _proved(catalogue, catalogue.folder(name), name, dtype)
    if as_json:
        console.write_json(ProofOut.of(proof).model_dump(mode="json"))
    else:
        console.out_console().print(_table(proof))
        console.err_console().print(_summary(proof))
    if not proof.whole:
        raise typer.Exit(console.FAILED)


def _proved(catalogue: Catalogue, folder: Path, name: str, dtype: str = "float32") -> Proof:
    """The model loaded on this machine's device, and checked whatever is kept."""
    from headscope.core.model.info import model_info
    from headscope.core.model.load import load_model
    from headscope.core.model.memory import weight_bytes
    from headscope.jobs.admission import admit_weights
    from headscope.jobs.device import find_device, free_bytes

    device = find_device(console.settings().device).name
    admit_weights(name, weight_bytes(model_info(folder, name=name), dtype), free_bytes(device))
    return catalogue.proofs.prove(load_model(folder, name=name, dtype=dtype, device=device))


def _try_out(catalogue: Catalogue, folder: Path, name: str) -> None:
    """Load a folder that is to be added, check it and say what was found.

    Raises what loading does, and ``Refused`` (not-proved) where its logits aren't the plain model's. Where
    this machine hasn't the memory, the check is left to a worker.
    """
    from headscope.errors import Refused

    err = console.err_console()
    try:
        proof = _proved(catalogue, folder, name)
    except Refused as error:
        err.print(f"Not checked here: {error} A worker checks it on its first load.")
        return
    err.print(_table(proof))
    err.print(_summary(proof))
    proof.require([])


def _table(proof: Proof) -> Any:
    from rich.table import Table

    table = Table("check", "capability", "largest difference", "verdict", box=None, pad_edge=False)
    for each in proof.checks:
        found = "-" if each.difference is None else f"{each.difference:.1e}"
        why = f": {each.detail}" if each.detail else ""
        table.add_row(each.title, each.capability, found, f"{each.verdict}{why}")
    return table


def _summary(proof: Proof) -> str:
    """What the model gives, and how close it was held."""
    lost = [each.title for each in proof.capabilities if each.reason is not None]
    said = f"{proof.model} can't give {', '.join(lost)}." if lost else f"{proof.model} is read right."
    tolerance = proof.checks[0].tolerance
    return f"{said} Allowed in {proof.dtype}: {tolerance:g}. Checked in {proof.seconds:.1f} s."


@app.command("try")
def try_config(
    config: Annotated[Path, typer.Argument(help="A config.json, or the folder that holds one.")],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Try a config.json before its weights are downloaded: what its heads will give. Keeps nothing."""
    known_models.try_config(config, as_json=as_json)


@contextmanager
def _download() -> Iterator[Callable[..., None]]:
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=console.err_console(), transient=True) as bar:
        line = bar.add_task("looking", total=None)

        def report(phase: str, done: float | None = None, total: float | None = None) -> None:
            bar.update(line, description=phase, completed=done, total=total)

        yield report


def _described(entry: Any) -> dict[str, Any]:
    fields = (
        *("name", "title", "source", "ready", "remedy", "summary", "licence"),
        *("bytes_to_download", "bytes_needed"),
    )
    terms = asdict(entry.terms) if entry.terms else None
    return {**{field: getattr(entry, field) for field in fields}, "terms": terms}
