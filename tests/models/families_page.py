"""docs/models.md: which families of models can be mapped, as their proofs say. ``make families`` writes it.

Run as a script it saves, loads and proves every family of ``models.families``; the tests do the same beside
the plain models and hold the page to it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from headscope.core.circuits.weights import read_weights
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.capabilities import CAPABILITIES, Proof
from headscope.core.model.info import ModelInfo
from headscope.core.model.load import load_model
from headscope.core.proof import prove
from headscope.errors import HeadscopeError
from models.families import FAMILIES, REFUSED, Family, save

PAGE = Path(__file__).resolve().parents[2] / "docs" / "models.md"
_SHOWN = tuple(name for name in CAPABILITIES if name != "logits")
_COMMON = ("Rotary positions", "Learned positions", "MLPs change", "A norm follows", "Nothing is normalised")
"""Limits of circuits that most families share; the page of circuits states them."""

_HEAD = """# Models

Headscope maps language models that predict the next token by attention in every layer. What it can do with a
family is found out, not assumed: a tiny random model of each is held against the plain model of transformers,
number by number, and every model that is loaded is proved again, itself ([design](design/models.md)). What a
model can't give is refused by name; the rest goes on.

This page is made from the proofs (`make families`), and a test computes them anew from plain transformers in
float64 (`tests/models/test_families.py`).

- **gating**: closing a head's gate is a zero in its slice of what W_O reads, and nothing else. Causal head
  gating and all that builds on it.
- **patterns**: what is drawn is what values are mixed by. The lab, induction, the battery.
- **circuits**: W_Q, W_K, W_V, W_O, W_E and W_U, as they are read, give what the model computes. Eigenvalues,
  composition, paths, tables.
- **attribution**: the parts of a logit add up to it.

## Families that can be mapped

| family | architecture | gating | patterns | circuits | attribution | to know |
|---|---|---|---|---|---|---|
"""

_REFUSED = """
## Families that can't

| family | why |
|---|---|
"""

_TAIL = """
## Another family

A decoder of the transformers library that isn't named here is tried: its parts are found by TransformerLens'
adapter or, where there is none, by the names that architectures mostly use. If every layer's heads reach one
projection it loads, and its proof says what it can give. Circuits need an adapter.
"""


@dataclass(frozen=True)
class Row:
    """What is said of one family."""

    architecture: str
    can: Mapping[str, bool]
    know: str

    @classmethod
    def of(cls, proof: Proof, info: ModelInfo, circuit_limits: list[str]) -> Row:
        """From a proof, and what circuits of the model state."""
        said = [check.detail for check in proof.checks if check.verdict == "limited"]
        said += [limit for limit in circuit_limits if not limit.startswith(_COMMON)]
        for capability in _SHOWN:
            lost = proof.lost_by(capability)
            if lost is not None:
                why = lost.reason if lost.difference is not None else lost.detail
                said.append(f"No {capability}: {why}.")
        if info.n_kv_heads != info.n_heads:
            heads = "head" if info.n_kv_heads == 1 else "heads"
            said.insert(0, f"{info.n_heads} heads over {info.n_kv_heads} key-value {heads}.")
        can: dict[str, bool] = {capability: proof.has(capability) for capability in _SHOWN}
        return cls(info.architecture, can, " ".join(dict.fromkeys(said)))

    @classmethod
    def refused(cls, why: str) -> Row:
        """Of a family that can't be loaded."""
        return cls("", {}, why)


def page(rows: Mapping[str, Row]) -> str:
    """The whole page."""
    there = [rows[family.name] for family in FAMILIES]
    lines = [
        f"| {family.name} | `{row.architecture}` | "
        + " | ".join(
            "yes" if row.can[name] else "**no**" for name in ("gating", "patterns", "circuits", "attribution")
        )
        + f" | {row.know} |"
        for family, row in zip(FAMILIES, there, strict=True)
    ]
    refused = [f"| {family.name} | {rows[family.name].know} |" for family in REFUSED]
    return _HEAD + "\n".join(lines) + "\n" + _REFUSED + "\n".join(refused) + "\n" + _TAIL


def examined(family: Family, folder: Path) -> Row:
    """Save, load and prove a family."""
    save(family, folder)
    dtype = "float32" if family.fails_in_float64 else "float64"
    try:
        model = load_model(folder, name="the model", dtype=dtype, device="cpu")
    except HeadscopeError as error:
        return Row.refused(error.message)
    assert isinstance(model, BridgedModel)
    proof = prove(model)
    return Row.of(proof, model.info, read_weights(model).limits if proof.has("circuits") else [])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        found = {
            family.name: examined(family, Path(place) / str(index))
            for index, family in enumerate((*FAMILIES, *REFUSED))
        }
    PAGE.write_text(page(found), encoding="utf-8")
