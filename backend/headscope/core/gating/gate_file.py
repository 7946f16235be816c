"""A gate vector as a file and back: JSON, CSV (a row a head) or safetensors (a tensor ``gates``).

JSON and safetensors say for which model and weights the gates are and how closed heads were ablated when they
were fitted; CSV has the numbers only.
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
from safetensors import SafetensorError
from safetensors.numpy import load, save

from headscope.core.gating.gate_vector import GateVector
from headscope.errors import Invalid

Format = Literal["json", "csv", "safetensors"]
FORMATS: Final[Mapping[Format, str]] = {
    "json": "application/json",
    "csv": "text/csv",
    "safetensors": "application/octet-stream",
}
_WORDS: Final = ("name", "model", "revision", "origin", "ablation")
_HEADER: Final = ["layer", "head", "gate"]


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
    """What a file of one of the three kinds says, told apart by its name.

    Raises ``Invalid`` (file-type, bad-gates) for other files and for content that can't be read.
    """
    kind = PurePath(name).suffix.lower().removeprefix(".")
    readers = {"json": _read_json, "csv": _read_csv, "safetensors": _read_safetensors}
    if kind not in readers:
        raise Invalid(
            f"{name or 'The file'} is no gate file by its name.",
            "Gates are read from .json, .csv and .safetensors.",
            code="file-type",
        )
    try:
        return readers[kind](content)
    except (ValueError, KeyError, TypeError, RecursionError, SafetensorError) as error:
        raise Invalid(
            f"{name} can't be read: {error}.",
            "Write it as `headscope gates export` does.",
            code="bad-gates",
        ) from error


def _rows(vector: GateVector) -> list[list[float]]:
    # The shortest decimals that read back as the same float32.
    return [[float(str(gate)) for gate in row] for row in vector.gates]


def _read_json(content: bytes) -> ReadGates:
    given = json.loads(content)
    if isinstance(given, list):
        return ReadGates(given)
    return ReadGates(given["gates"], **{name: str(given.get(name, "")) for name in _WORDS})


def _read_csv(content: bytes) -> ReadGates:
    lines = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    header = [word.strip().lower() for word in next(lines, [])]
    if header != _HEADER:
        raise ValueError(f"its first line isn't {','.join(_HEADER)}")
    cells = {(int(layer), int(head)): float(gate) for layer, head, gate in filter(None, lines)}
    shape = tuple(1 + max((place[axis] for place in cells), default=-1) for axis in (0, 1))
    if not cells or len(cells) != shape[0] * shape[1] or min(map(min, cells)) < 0:
        raise ValueError(f"it has {len(cells)} of {shape[0] * shape[1]} heads")
    table = np.empty(shape, np.float32)
    for place, gate in cells.items():
        table[place] = gate
    return ReadGates(table)


def _read_safetensors(content: bytes) -> ReadGates:
    length = int.from_bytes(content[:8], "little")
    words = json.loads(content[8 : 8 + length]).get("__metadata__", {})
    return ReadGates(load(content)["gates"], **{name: str(words.get(name, "")) for name in _WORDS})
