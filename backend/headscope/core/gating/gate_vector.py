"""Gates of all heads of one model as something to keep: checked, named by their content. Loads no torch."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray

from headscope.core.arrays import decode
from headscope.core.gating.ablation import ABLATIONS, Ablation
from headscope.core.model.info import ModelInfo
from headscope.errors import Invalid


@dataclass(frozen=True)
class GateVector:
    """Gates [layer, head] in [0, 1] of a model with these very weights; ``origin`` says whence, in words, and
    ``ablation`` what closed heads gave when the gates were fitted.

    ``with model.gated(torch.from_numpy(vector.gates))`` applies them.
    """

    id: str
    name: str
    model: str
    revision: str
    gates: Float[np.ndarray, "layer head"]
    origin: str = ""
    ablation: Ablation = "zero"

    def check_model(self, model: ModelInfo) -> None:
        """Raise ``Invalid`` (other-model) where the gates were made for other weights than the model's."""
        if (self.model, self.revision) == (model.name, model.revision):
            return
        which = f"other weights of {self.model}" if self.model == model.name else self.model
        raise Invalid(
            f"The gates {self.name or self.id!r} belong to {which}, not to {model.name} as it is here.",
            f"Use gates that were saved for {model.name}.",
            code="other-model",
        )


def gate_vector(
    name: str, model: ModelInfo, gates: object, origin: str = "by hand", ablation: str = "zero"
) -> GateVector:
    """Gates for a model, given as a typed array or nested lists.

    Raises ``Invalid`` (bad-gates, bad-name, bad-ablation): words are on one line.
    """
    if not name.strip() or any(unicodedata.category(c) in ("Cc", "Cs") for c in name + origin):
        raise Invalid("The gates need a name, on one line.", "Give them one.", code="bad-name")
    table, kind = gate_table(gates, model), known_ablation(ablation)
    named = vector_id(model.name, model.revision, table, kind)
    return GateVector(named, name, model.name, model.revision, table, origin, kind)


def known_ablation(name: str) -> Ablation:
    """An ablation by its name; ``Invalid`` (bad-ablation) lists those there are."""
    for known in ABLATIONS:
        if name == known:
            return known
    raise Invalid(
        f"There is no ablation {name!r}.", f"Choose among {', '.join(ABLATIONS)}.", code="bad-ablation"
    )


def gate_table(gates: object, model: ModelInfo) -> Float[np.ndarray, "layer head"]:
    """[layer, head] float32; ``Invalid`` (bad-gates) unless it has the model's shape and lies in [0, 1]."""
    given = decode(gates) if isinstance(gates, dict) else gates
    if isinstance(given, list | tuple):
        _check_rows(given)
    try:
        with np.errstate(over="ignore"):  # what float32 can't hold is outside [0, 1] as well
            table = np.array(given, dtype=np.float32)
    except (ValueError, TypeError, OverflowError) as error:
        raise _no_table("") from error
    shape = (model.n_layers, model.n_heads)
    if table.shape != shape:
        raise Invalid(
            f"The gates have shape {'x'.join(map(str, table.shape)) or 'of one number'}.",
            f"{model.name} has {shape[0]} layers of {shape[1]} heads: send {shape[0]}x{shape[1]}.",
            code="bad-gates",
        )
    outside = ~((table >= 0) & (table <= 1))
    if outside.any():
        layer, head = (int(i) for i in np.argwhere(outside)[0])
        raise Invalid(
            # str gives as many digits as tell a float32 from its neighbours: 1.0000001 is no 1.
            f"The gate of layer {layer}, head {head} is {str(table[layer, head]).removesuffix('.0')}.",
            "Gates lie between 0 (off) and 1 (on).",
            code="bad-gates",
        )
    return np.abs(table)  # -0.0 is 0


def _check_rows(rows: Sequence[object]) -> None:
    """Nested lists are rows of equal length, of numbers only: numpy would read "0.5" and true as such."""
    lists = {layer: row for layer, row in enumerate(rows) if isinstance(row, list | tuple)}
    for layer, row in lists.items():
        if 0 in lists and len(row) != len(lists[0]):
            raise _no_table(f": layer {layer} has {len(row)} gates, layer 0 has {len(lists[0])}")
        for head, gate in enumerate(row):
            if isinstance(gate, bool | str) or gate is None:
                raise _no_table(f": layer {layer}, head {head} is {_shown(gate)}")


def _shown(gate: object) -> str:
    """A value as JSON writes it, at most 40 characters."""
    written = json.dumps(gate, ensure_ascii=False, default=str)
    return written if len(written) <= 40 else written[:39] + "…"


def _no_table(why: str) -> Invalid:
    return Invalid(
        f"The gates are not a table of numbers{why}.",
        "Give one row per layer, one number per head.",
        code="bad-gates",
    )


def vector_id(model: str, revision: str, gates: NDArray[Any], ablation: str = "zero") -> str:
    """First 20 hexadecimal digits of the SHA-256 of model, weights' hash, the gates' bytes and, where it
    isn't zero, the ablation.
    """
    table = np.ascontiguousarray(gates, dtype="<f4")
    by = "" if ablation == "zero" else f"{ablation}\n"
    words = f"{model}\n{revision}\n{'x'.join(map(str, table.shape))}\n{by}".encode()
    return hashlib.sha256(words + table.tobytes()).hexdigest()[:20]
