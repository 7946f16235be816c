"""Gates baked into the weights: each head's part of W_O times its gate, saved as a normal model folder.

z enters the model through W_O alone, so scaling W_O's rows of a head is the same as scaling the head's z. A
bias of W_O is added after it and stays. Exact in the precision in which it is done: float32 by default.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import nn

from headscope.core.gating.ablation import told
from headscope.core.gating.gate_file import write_gates
from headscope.core.gating.gate_vector import GateVector
from headscope.core.model.folder import ATTENTION_ONLY, headscope_json
from headscope.core.model.head_model import HeadModel
from headscope.errors import Invalid, Refused

_WEIGHTS = ("*.safetensors", "*.bin", "*.safetensors.index.json", "*.bin.index.json")
_OWN = ("headscope.json", "config.json", "gates.json")


def bake(model: HeadModel, source: Path, vector: GateVector, folder: Path, *, force: bool = False) -> None:
    """Scale the loaded model's W_O by the gates and save it, with what else its folder ``source`` holds.

    The model in memory is changed: load it for this alone. Raises ``Refused`` (folder-exists) for a folder
    that is there already, unless ``force``; (not-a-model) for one that even then isn't replaced, since it is
    no model's; ``Invalid`` (other-model, not-bakeable, unsupported-architecture).
    """
    vector.check_model(model.info)
    check_bakeable(vector)
    check_folder(folder, source, force=force)
    for layer, projection in enumerate(model.parts.projections):
        _scale(projection, torch.from_numpy(vector.gates[layer].copy()), model.info.d_head)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as made:
        new = Path(made) / "new"
        _save(model, source, vector, new)
        if folder.exists():
            folder.rename(Path(made) / "old")
        new.rename(folder)


def check_bakeable(vector: GateVector) -> None:
    """Raise ``Invalid`` (not-bakeable) where weights can't do what closed heads did.

    W_O scales z, and a bias would add the same at every position: a mean differs by position, and other
    rows' output by row.
    """
    if vector.ablation == "zero" or bool((vector.gates == 1).all()):
        return
    raise Invalid(
        f"The gates {vector.name or vector.id!r} were fitted with {told(vector.ablation)}, which weights "
        "can't do: what a closed head gives differs by position.",
        "Use them as they are, headscope.gated(model, gates, reference=texts), or fit with zero ablation.",
        code="not-bakeable",
    )


def check_folder(folder: Path, source: Path, *, force: bool) -> None:
    """Raise ``Refused`` where the folder can't be written to."""
    if folder.resolve() == source.resolve() or source.resolve() in folder.resolve().parents:
        raise Refused(f"{folder} is the model's own folder.", "Name another one.", code="folder-exists")
    if not folder.exists():
        return
    if not force:
        raise Refused(
            f"{folder} exists already.",
            "Name another folder, or replace it with --force.",
            code="folder-exists",
        )
    if not folder.is_dir() or (any(folder.iterdir()) and not (folder / "config.json").is_file()):
        raise Refused(
            f"{folder} is no model's folder, so --force doesn't replace it.",
            "Name another folder, or remove it yourself.",
            code="not-a-model",
        )


def _scale(projection: nn.Module, gates: torch.Tensor, d_head: int) -> None:
    """W_O's rows of head h times gate h. ``Linear`` keeps them as columns, GPT-2's ``Conv1D`` as rows."""
    weight: Any = projection.weight
    scale = gates.repeat_interleave(d_head).to(device=weight.device, dtype=torch.float32)
    by_rows = not isinstance(projection, nn.Linear)
    if weight.ndim != 2 or weight.shape[0 if by_rows else 1] != len(scale):
        raise Invalid(
            f"{type(projection).__name__} of shape {tuple(weight.shape)} isn't a W_O of {len(scale)} inputs.",
            "Use the gates as they are: headscope.gated(model, gates).",
            code="unsupported-architecture",
        )
    wide = torch.float64 if weight.dtype == torch.float64 else torch.float32
    with torch.no_grad():
        weight.copy_(weight.to(wide) * (scale[:, None] if by_rows else scale).to(wide))


def _save(model: HeadModel, source: Path, vector: GateVector, folder: Path) -> None:
    """Weights and configuration as the architecture saves them, everything else as it lies in ``source``."""
    folder.mkdir()
    module: Any = model.module  # type: ignore[attr-defined]
    native = model.info.architecture == ATTENTION_ONLY
    left = shutil.ignore_patterns(*_WEIGHTS, *_OWN[: 1 if native else 2], "gates.json")
    shutil.copytree(source, folder, ignore=left, dirs_exist_ok=True)
    if native:
        from safetensors.torch import save_file

        save_file(module.state_dict(), str(folder / "model.safetensors"))
    else:
        module.save_pretrained(folder, safe_serialization=True)
    for file in folder.glob("*.safetensors"):
        file.chmod(0o644)  # safetensors writes for the owner alone
    told = headscope_json(source)
    words = {
        "title": f"{told.get('title', model.info.name)}, gated",
        "source": f"{model.info.name} ({model.info.revision}), gates {vector.name!r} ({vector.id}) in W_O",
        "licence": told.get("licence", "as the model's"),
    }
    (folder / "headscope.json").write_text(json.dumps(words, indent=1) + "\n", encoding="utf-8")
    (folder / "gates.json").write_bytes(write_gates(vector, "json"))
