"""A gate vector as a file and back: JSON, a table (a row a head) or safetensors (a tensor ``gates``).

JSON and safetensors say for which model and weights the gates are and how closed heads were ablated when they
were fitted; tables have the numbers only.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save

from headscope.core.gating.gate_table_file import read_gate_table
from headscope.core.gating.gate_vector import GateVector
from headscope.errors import Invalid
from headscope.files.json_text import json_value, kind_of
from headscope.files.place import Place
from headscope.files.text import decoded

Format = Literal["json", "csv", "safetensors"]
FORMATS: Final[Mapping[Format, str]] = {
    "json": "application/json",
    "csv": "text/csv",
    "safetensors": "application/octet-stream",
}
_WORDS: Final = ("name", "model", "revision", "origin", "ablation")
_HEADER: Final = ["layer", "head", "gate"]
_JSON: Final = 'Write `{"model": ..., "gates": [[1.0, 0.0, ...], ...]}`, a row a layer.'
_FLOATS: Final = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
"""Precisions that are read, as numpy reads their bytes; it has no bfloat16."""


@dataclass(frozen=True)
class ReadGates:
    """What a file says; ``gates`` is unchecked, the words are empty where the file is silent."""

    gates: Any
    name: str = ""
    model: str = ""
    revision: str = ""
    origin: str = ""
    ablation: str = ""


def write_gates(vector: GateVector, kind: Format) -> bytes:
    """The vector as a file's content."""
    words = {name: getattr(vector, name) for name in _WORDS}
    if kind == "json":
        return (json.dumps({**words, "gates": _rows(vector)}, ensure_ascii=False, indent=1) + "\n").encode()
    if kind == "safetensors":
        return bytes(save({"gates": np.ascontiguousarray(vector.gates)}, metadata=words))
    out = io.StringIO(newline="")
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(_HEADER)
    lines.writerows(
        [layer, head, gate] for layer, row in enumerate(_rows(vector)) for head, gate in enumerate(row)
    )
    return out.getvalue().encode()


def filename(vector: GateVector, kind: Format) -> str:
    """A name for the file: the vector's in plain letters, else its id."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", vector.name).strip("-.")[:60]
    return f"{plain or vector.id}.{kind}"


def read_gates(name: str, content: bytes) -> ReadGates:
    """What a file of one of these kinds says, told apart by its name.

    Raises ``Invalid``: file-type for other files, bad-gates and what reading text and tables raises for
    content that can't be read, with its place.
    """
    match PurePath(name).suffix.lower():
        case ".json":
            return _of_json(name, decoded(name, content))
        case ".csv" | ".tsv":
            return ReadGates(read_gate_table(name, decoded(name, content)))
        case ".safetensors":
            return _of_safetensors(name, content)
    raise Invalid(
        f"{name or 'The file'} is no gate file by its name.",
        "Gates are read from .json, .csv, .tsv and .safetensors.",
        code="file-type",
    )


def _rows(vector: GateVector) -> list[list[float]]:
    # The shortest decimals that read back as the same float32.
    return [[float(str(gate)) for gate in row] for row in vector.gates]


def _of_json(name: str, text: str) -> ReadGates:
    given, place = json_value(name, text, _JSON, "bad-gates"), Place(name)
    if isinstance(given, list):
        return ReadGates(given)
    if not isinstance(given, dict):
        raise place.fault(f"the file holds {kind_of(given)}, no gates.", _JSON, "bad-gates")
    if "gates" not in given:
        raise place.fault("there is no field `gates`.", _JSON, "bad-gates")
    return ReadGates(given["gates"], **_words(place, given))


def _words(place: Place, given: Mapping[str, Any]) -> dict[str, str]:
    """What a file says beside its gates; null is nothing."""
    for word in _WORDS:
        if not isinstance(given.get(word), str | None):
            what = f"the field `{word}` isn't text but {kind_of(given[word])}."
            raise place.fault(what, f"Put the {word} in double quotes.", "bad-gates")
    return {word: given.get(word) or "" for word in _WORDS}


def _of_safetensors(name: str, content: bytes) -> ReadGates:
    place = Place(name)
    try:
        tensors = dict(deserialize(content))  # type: ignore[no-untyped-call]
    except SafetensorError as error:
        raise place.fault(
            f"this isn't a safetensors file: {error}.", "Save the gates again.", "bad-gates"
        ) from error
    if "gates" not in tensors:
        there = ", ".join(sorted(tensors)[:5]) or "none"
        raise place.fault(
            f"there is no tensor `gates` (there: {there}).", "Name the tensor `gates`.", "bad-gates"
        )
    length = int.from_bytes(content[:8], "little")
    words = json.loads(content[8 : 8 + length]).get("__metadata__") or {}
    return ReadGates(_floats(place, tensors["gates"]), **_words(place, words))


def _floats(place: Place, tensor: Mapping[str, Any]) -> NDArray[Any]:
    """A tensor's numbers, none of them rounded; ``Invalid`` (bad-gates) for other numbers than floats."""
    precision, shape = tensor["dtype"], tuple(tensor["shape"])
    if precision not in _FLOATS:
        what = f"the gates are {precision}; read are {', '.join(_FLOATS)}."
        raise place.fault(what, "Save them as float32.", "bad-gates")
    stored = np.frombuffer(tensor["data"], dtype=_FLOATS[precision])
    if precision == "BF16":  # the upper half of a float32
        stored = (stored.astype("<u4") << 16).view("<f4")
    return stored.reshape(shape).astype(np.float64 if precision == "F64" else np.float32)
