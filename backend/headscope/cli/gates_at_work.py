"""``headscope gates apply``, ``evaluate``, ``bake``: what gates do to a text, to tasks and to weights."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headscope.cli import console, files

if TYPE_CHECKING:
    from headscope.core.gating.gate_vector import GateVector
    from headscope.core.model.head_model import HeadModel
    from headscope.models.catalogue import Catalogue
    from headscope.settings import Settings

Source = Annotated[str, typer.Argument(metavar="GATES", help="A gate vector's id, or a file of gates.")]
_MOST_BYTES = 10_000_000

Model = Annotated[str, typer.Option(help="A model's name or folder; the gates' own by default.")]


def apply(
    gates: Source,
    prompt: Annotated[str, typer.Option(help="The text to continue.")],
    model: Model = "",
    tokens: Annotated[int, typer.Option(min=1, max=1000, help="How many tokens, at most.")] = 20,
    temperature: Annotated[float, typer.Option(min=0, max=10, help="0 takes the most likely token.")] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed for sampling, where the temperature isn't 0.")] = 0,
    reference: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Texts, one a line, that closed heads' output comes from: for gates fitted with mean or "
            "resample ablation.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Continue a text without and with the gates, closed heads giving what they gave in the fit."""
    from headscope.core.gating.text_replacements import of_text
    from headscope.core.model.continuation import without_and_with

    vector, name, models, _ = _given(gates, model)
    loaded = _loaded(models, name)
    vector.check_model(loaded.info)
    rows = [loaded.tokenizer.encode(text) for text in _texts(reference)]
    inside = of_text(loaded, vector.ablation, rows, seed)
    before, after = without_and_with(loaded, prompt, vector.gates, tokens, temperature, seed, inside)
    if as_json:
        console.write_json({"prompt": prompt, "as_it_is": before, "gated": after})
        return
    out = console.out_console()
    for word, text in (("ungated", before), ("gated", after)):
        out.print(f"[bold]{word}[/]")
        out.print(prompt + text, markup=False, highlight=False, soft_wrap=True)


def evaluate(
    gates: Source,
    task: Annotated[list[str], typer.Option(help="A task's name; can be repeated.")],
    model: Model = "",
    examples: Annotated[int, typer.Option(min=1, help="Held-out examples of each task, at most.")] = 64,
    shots: Annotated[
        int | None, typer.Option(min=0, max=64, help="In-context examples; each task's own by default.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Score tasks without and with the gates on held-out rows; a run of the analysis `evaluation`."""
    from rich.table import Table

    from headscope.analyses import figures
    from headscope.cli.run import compute, resolve
    from headscope.store import gates as kept
    from headscope.store import runs
    from headscope.store.opening import opened

    vector, name, models, settings = _given(gates, model)
    params = {"gates": vector.id, "tasks": list(task), "n_test": examples, "shots": shots}
    with opened(settings) as store:
        with store.session() as session:
            kept.add(session, vector)
        request = resolve(store, models, "evaluation", name, None, None, params)
        run_id = compute(settings, store, models, request)
        with store.session() as session:
            result = runs.result(session, run_id)
    rows = figures.table(result, "accuracy")
    if as_json:
        names = [column["name"] for column in rows["columns"]]
        console.write_json([dict(zip(names, row, strict=True)) for row in rows["rows"]])
        return
    table = Table("task", "examples", "by chance", "ungated", "gated", box=None, pad_edge=False)
    for each, n, chance, before, after, *_ in rows["rows"]:
        table.add_row(each, str(n), f"{chance:.1%}", f"{before:.1%}", f"{after:.1%}")
    console.out_console().print(table)
    for note in result.values["notes"]:
        console.err_console().print(note)


def bake(
    gates: Source,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="The new model's folder.")],
    model: Model = "",
    dtype: Annotated[
        str, typer.Option(help="Precision of the new weights: float32, bfloat16, float16.")
    ] = "float32",
    force: Annotated[bool, typer.Option("--force", help="Replace an existing model folder.")] = False,
) -> None:
    """Save the model with the gates in its weights: a normal model folder, the same in float32."""
    from headscope.core.gating.baking import bake as bake_into
    from headscope.core.gating.baking import check_bakeable, check_folder

    vector, name, models, _ = _given(gates, model)
    source = models.folder(name)
    check_bakeable(vector)  # before a large model is loaded
    check_folder(output, source, force=force)
    bake_into(_loaded(models, name, dtype), source, vector, output, force=force)
    err = console.err_console()
    err.print(f"{vector.model} with the gates {console.plain(vector.name)!r} is in {output}.")
    if dtype != "float32":
        err.print(f"Weights are rounded to {dtype}: logits differ a little from those of the gated model.")


def _texts(file: Path | None) -> list[str]:
    """The lines of a file of texts that aren't blank; ``Invalid`` for a file that is no text."""
    from headscope.files.text import decoded

    if file is None:
        return []
    text = decoded(file.name, files.read(file, _MOST_BYTES, "a file of texts, one a line"))
    return [line for line in re.split(r"\r\n|\n|\r", text) if line.strip()]


def _given(source: str, model: str) -> tuple[GateVector, str, Catalogue, Settings]:
    """The gates, and the model to put them on: the one named, or the gates' own."""
    from headscope.models.catalogue import Catalogue
    from headscope.store.gate_source import load_gates

    settings = console.settings()
    vector = load_gates(source, model=model, settings=settings)
    return vector, model or vector.model, Catalogue(settings), settings


def _loaded(models: Catalogue, name: str, dtype: str = "float32") -> HeadModel:
    model = models.proofs.load(models.folder(name), name=name, dtype=dtype, device="auto", attention="sdpa")
    if model.proof is not None:
        model.proof.require(["gating"])
    return model
