"""``headscope models list --known`` and ``headscope models try``: models that aren't here yet."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from headscope.cli import console
from headscope.errors import NotFound

if TYPE_CHECKING:
    from headscope.models.trial import Trial

_ROOM = {"float32": "yes", "bfloat16": "in bfloat16", "no": "no"}


def list_known(*, as_json: bool) -> None:
    """The list of known models, against this machine's memory."""
    from rich.table import Table

    from headscope.jobs.device import find_device
    from headscope.models.known import KNOWN

    device = find_device(console.settings().device)
    if as_json:
        console.write_json([_described(known, device.memory_bytes) for known in KNOWN])
        return
    columns = ("model", "parameters", "heads", "download", "memory", "has room", "licence")
    table = Table(*columns, box=None, pad_edge=False)
    for known in KNOWN:
        table.add_row(
            known.name,
            f"{known.n_params / 1e6:,.0f} M",
            f"{known.n_layers} × {known.n_heads}",
            f"{known.n_bytes / 1e9:.1f} GB",
            f"{known.memory_bytes() / 1e9:.1f} GB",
            _ROOM[known.fits(device.memory_bytes) or "no"],
            known.licence + (", gated" if known.gated else ""),
        )
    console.out_console().print(table)
    console.err_console().print(
        f"Memory is in float32, against {device.memory_bytes / 1e9:.0f} GB of {device.title}. "
        "`headscope models fetch NAME` gets one; a gated one wants its terms accepted and HF_TOKEN."
    )


def try_config(path: Path, *, as_json: bool) -> None:
    """Make a small model of a configuration, prove it, print what is expected; exit code 1 for a loss."""
    from headscope.models.trial import try_config as tried

    file = path / "config.json" if path.is_dir() else path
    if not file.is_file():
        raise NotFound(f"There is no file {file}.", "Name a config.json.", code="no-model-folder")
    trial = tried(file.read_text(encoding="utf-8"))
    if as_json:
        told = {"architecture": trial.architecture, **trial.sizes, "quantised": trial.quantised}
        console.write_json(told | {"proof": trial.proof.to_json()})
    else:
        _print(trial)
    if not trial.proof.whole:
        raise typer.Exit(1)


def _print(trial: Trial) -> None:
    from rich.table import Table

    sizes = trial.sizes
    stored = f", stored as {trial.quantised}" if trial.quantised else ""
    console.out_console().print(
        f"{trial.architecture}: {sizes['n_layers']} layers of {sizes['n_heads']} heads over "
        f"{sizes['n_kv_heads']}, {sizes['n_params'] / 1e6:,.0f} million parameters{stored}"
    )
    table = Table("capability", "expected", "why", box=None, pad_edge=False)
    for each in trial.proof.capabilities:
        verdict = "no" if each.reason else "with limits" if each.limits else "yes"
        table.add_row(each.title, verdict, each.reason or " ".join(each.limits))
    console.out_console().print(table)


def _described(known: Any, memory: int) -> dict[str, Any]:
    takes = {f"memory_{dtype}": known.memory_bytes(dtype) for dtype in ("float32", "bfloat16")}
    return asdict(known) | takes | {"fits": known.fits(memory), "command": known.command}
