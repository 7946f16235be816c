"""Gates in a table, a row a head: columns ``layer``, ``head`` and ``gate`` among others, in any order."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from jaxtyping import Float

from headscope.files.place import Place, quoted
from headscope.files.table import Record, Table, read_table

_COLUMNS: Final = ("layer", "head", "gate")
_HEADER: Final = "The first line names the columns: `layer,head,gate`; each head has a line, like `0,3,0.25`."
_WHOLE = re.compile(r"\d{1,5}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def read_gate_table(name: str, text: str) -> Float[np.ndarray, "layer head"]:
    """The gates of a table that has every head of every layer once.

    Raises ``Invalid`` (bad-gates) naming the line and column of what is no gate, a head that is named twice,
    a head that is missing; and what reading tables raises.
    """
    table = read_table(name, text, [_COLUMNS])
    if table is None:
        raise Place(name, 1).fault("there is no header.", _HEADER, "bad-gates")
    columns = [_column(table, column) for column in _COLUMNS]
    found: dict[tuple[int, int], float] = {}
    lines: dict[tuple[int, int], int] = {}
    for record in table.rows():
        layer, head = (_whole(table, record, column) for column in columns[:2])
        if (layer, head) in found:
            raise table.place(record).fault(
                f"the head {layer}.{head} stands on line {lines[layer, head]} already.",
                "Give each head one line.",
                "bad-gates",
            )
        found[layer, head], lines[layer, head] = _gate(table, record, columns[2]), record.line
    return _whole_grid(name, found)


def _whole_grid(name: str, found: dict[tuple[int, int], float]) -> Float[np.ndarray, "layer head"]:
    if not found:
        raise Place(name).fault("the table has no heads.", _HEADER, "bad-gates")
    n_layers, n_heads = (1 + max(head[axis] for head in found) for axis in (0, 1))
    if len(found) < n_layers * n_heads:
        heads = ((layer, head) for layer in range(n_layers) for head in range(n_heads))
        layer, head = next(each for each in heads if each not in found)
        raise Place(name).fault(
            f"it has {len(found)} of {n_layers * n_heads} heads; {layer}.{head} is missing.",
            "Give every head of every layer a line.",
            "bad-gates",
        )
    gates = np.empty((n_layers, n_heads), np.float64)
    for place, gate in found.items():
        gates[place] = gate
    return gates


def _column(table: Table, name: str) -> int:
    if table.names.count(name) == 1:
        return table.names.index(name)
    header = quoted(table.separator.join(table.header.fields))
    raise table.place(table.header).fault(f"the header is {header}.", _HEADER, "bad-gates")


def _whole(table: Table, record: Record, column: int) -> int:
    cell = record.fields[column].strip()
    if _WHOLE.fullmatch(cell):
        return int(cell)
    raise table.place(record, column).fault(
        f"{quoted(cell)} is no {table.names[column]}.", "Layers and heads count from 0.", "bad-gates"
    )


def _gate(table: Table, record: Record, column: int) -> float:
    """A number; with a decimal comma where commas don't separate columns, as spreadsheets write it."""
    cell = record.fields[column].strip()
    number = cell if table.separator == "," else cell.replace(",", ".", 1)
    # As float32, which gates are kept in: what rounds to 1 there is no fault.
    if _NUMBER.fullmatch(number) and abs(float(number)) < 2 and 0 <= np.float32(number) <= 1:
        return float(number)
    raise table.place(record, column).fault(
        f"{quoted(cell)} is no gate.", "Gates lie between 0 (off) and 1 (on).", "bad-gates"
    )
