"""Gates as files: what is written is read again, from what others write too, and faults have their place."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from safetensors.numpy import save
from safetensors.torch import save as save_torch

from headscope.core.gating.ablation import ABLATIONS
from headscope.core.gating.gate_file import FORMATS, read_gates, write_gates
from headscope.core.gating.gate_vector import GateVector, gate_table
from headscope.errors import Invalid
from micro.model import random_model

GATES = arrays(np.float32, array_shapes(min_dims=2, max_dims=2), elements=st.floats(0, 1, width=32))
LINE = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)
VECTORS = st.builds(
    GateVector, st.just("id"), LINE, LINE, LINE, GATES, LINE, st.sampled_from(list(ABLATIONS))
)
WORDS = ("name", "model", "revision", "origin", "ablation")


@given(VECTORS, st.sampled_from(list(FORMATS)))
def test_what_is_exported_is_read_again_to_the_last_bit(vector: GateVector, kind: str) -> None:
    found = read_gates(f"gates.{kind}", write_gates(vector, kind))  # type: ignore[arg-type]
    np.testing.assert_array_equal(np.array(found.gates, np.float32), np.abs(vector.gates))
    if kind != "csv":
        assert [getattr(found, word) for word in WORDS] == [getattr(vector, word) for word in WORDS]


@given(GATES, st.sampled_from([",", ";", "\t", "|"]), st.sampled_from(["utf-8-sig", "utf-16"]), st.randoms())
def test_a_table_may_be_as_a_spreadsheet_writes_it(
    gates: np.ndarray[Any, Any], mark: str, encoding: str, random: Any
) -> None:
    """Any separator and order, a decimal comma where commas are free, other columns beside."""
    rows = [
        mark.join(
            [str(gate).replace(".", "," if mark != "," else "."), f' "head{mark}"', str(head), str(layer)]
        )
        for (layer, head), gate in np.ndenumerate(gates)
    ]
    random.shuffle(rows)
    text = "\r".join([mark.join(["Gate", "name", "HEAD", " layer "]), *rows])
    np.testing.assert_array_equal(
        read_gates("g.csv", text.encode(encoding)).gates.astype("f4"), np.abs(gates)
    )


@pytest.mark.parametrize("precision", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_every_precision_is_read_as_it_is(precision: torch.dtype) -> None:
    gates = torch.rand(3, 4, generator=torch.Generator().manual_seed(0)).to(precision)
    found = read_gates("g.safetensors", save_torch({"gates": gates, "more": torch.ones(2)}))
    np.testing.assert_array_equal(found.gates, gates.double().numpy())


HEADER = "layer,head,gate\n"
TABLES = {
    "empty": ("", "line 1: there is no header."),
    "no rows": (HEADER, "the table has no heads."),
    "no header": ("0,0,1\n", "line 1: the header is '0,0,1'."),
    "twice": (HEADER + "0,0,1\n0,1,1\n\n0, 0,0\n", "line 5: the head 0.0 stands on line 2 already."),
    "missing": (HEADER + "0,0,1\n1,1,1\n", "it has 2 of 4 heads; 0.1 is missing."),
    "no layer": (HEADER + "0,0,1\nx,1,1\n", "line 3, column 1 (layer): 'x' is no layer."),
    "a fraction": (HEADER + "0,1.5,1\n", "line 2, column 2 (head): '1.5' is no head."),
    "other digits": (HEADER + "0,٣,1\n", "line 2, column 2 (head): '٣' is no head."),
    "an underscore": (HEADER + "0,0,0_1\n", "line 2, column 3 (gate): '0_1' is no gate."),
    "nan": (HEADER + "0,0,nan\n", "line 2, column 3 (gate): 'nan' is no gate."),
    "a hair outside": (HEADER + "0,0,1.0000001\n", "line 2, column 3 (gate): '1.0000001' is no gate."),
    "far outside": (HEADER + "0,0,1e300\n", "line 2, column 3 (gate): '1e300' is no gate."),
    "ragged": (HEADER + "0,0\n", "line 2, column 3 (gate): 2 columns, the first line has 3."),
}


@pytest.mark.parametrize("fault", TABLES)
def test_tables_that_are_no_gates(fault: str) -> None:
    text, says = TABLES[fault]
    _refused("g.csv", text.encode(), says)


JSON = {
    "syntax": ('{"gates": [[1,]]}', "line 1, column "),
    "twice": ('{"gates": [[1]], "gates": [[0]]}', "the field 'gates' appears twice."),
    "NaN": ('{"gates": [[NaN]]}', "NaN is no number in JSON."),
    "text": ('"gates"', "the file holds text, no gates."),
    "no gates": ('{"gate": [[1]]}', "there is no field `gates`."),
    "a number for a name": ('{"gates": [[1]], "name": 7}', "the field `name` isn't text but a number."),
}


@pytest.mark.parametrize("fault", JSON)
def test_json_that_is_no_gates(fault: str) -> None:
    text, says = JSON[fault]
    _refused("g.json", text.encode(), says)


def test_null_words_are_none() -> None:
    assert read_gates("g.json", b'{"gates": [[1]], "name": null}').name == ""


def test_tensors_that_are_no_gates() -> None:
    ones = np.ones((2, 2), np.float32)
    _refused("g.safetensors", save({"mask": ones}), "there is no tensor `gates` (there: mask).")
    _refused("g.safetensors", save({"gates": ones.astype(np.int64)}), "the gates are I64;")
    _refused("g.safetensors", save({"gates": ones})[:-1], "this isn't a safetensors file: ")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([[1, "0.5"], [1, 1]], ': layer 0, head 1 is "0.5".'),
        ([[1, 1], [True, 1]], ": layer 1, head 0 is true."),
        ([[1, None], [1, 1]], ": layer 0, head 1 is null."),
        ([[1, 1], [1]], ": layer 1 has 1 gates, layer 0 has 2."),
        ("gates", "."),
        ([1, [1]], "."),
    ],
)
def test_what_numpy_would_take_for_numbers_is_refused(given: object, says: str) -> None:
    with pytest.raises(Invalid) as refused:
        gate_table(json.loads(json.dumps(given)), random_model().info)
    assert refused.value.message == f"The gates are not a table of numbers{says}"


def test_a_gate_a_hair_outside_is_shown_with_its_digits() -> None:
    info = random_model().info
    gates = np.full((info.n_layers, info.n_heads), 0.5, np.float32)
    with pytest.raises(Invalid, match="layer 0, head 1 is inf"):
        gate_table(gates.astype(np.float64) + 1e300 * (np.arange(gates.shape[1]) == 1), info)
    for value, shown in ((np.nextafter(np.float32(1), np.float32(2)), "1.0000001"), (-1e-9, "-1e-09")):
        gates[0, 1] = value
        with pytest.raises(Invalid, match=rf"layer 0, head 1 is {shown}\."):
            gate_table(gates, info)


def _refused(name: str, content: bytes, says: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_gates(name, content)
    assert refused.value.message.startswith(name)
    assert says in refused.value.message
    assert refused.value.remedy
