"""Gates of all heads of one model as something to keep: checked, named by their content. Loads no torch."""

from __future__ import annotations

import hashlib
import unicodedata
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
    try:
        given = (
            gates if isinstance(gates, np.ndarray) else decode(gates) if isinstance(gates, dict) else gates
        )
        table = np.array(given, dtype=np.float32)
    except (ValueError, TypeError) as error:
        raise Invalid(
            "The gates are not a table of numbers.",
            "Send one row per layer, one number per head.",
            code="bad-gates",
        ) from error
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
            f"The gate of layer {layer}, head {head} is {table[layer, head]:g}.",
            "Gates lie between 0 (off) and 1 (on).",
            code="bad-gates",
        )
    return np.abs(table)  # -0.0 is 0


def vector_id(model: str, revision: str, gates: NDArray[Any], ablation: str = "zero") -> str:
    """First 20 hexadecimal digits of the SHA-256 of model, weights' hash, the gates' bytes and, where it
    isn't zero, the ablation.
    """
    table = np.ascontiguousarray(gates, dtype="<f4")
    by = "" if ablation == "zero" else f"{ablation}\n"
    words = f"{model}\n{revision}\n{'x'.join(map(str, table.shape))}\n{by}".encode()
    return hashlib.sha256(words + table.tobytes()).hexdigest()[:20]
