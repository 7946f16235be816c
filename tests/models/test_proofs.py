"""A proof is made once: kept by revision and precision, and made anew for other weights."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from core.conftest import save_model
from headscope.core.model.head_model import HeadModel
from headscope.models import proofs as module
from headscope.models.proofs import Proofs


@pytest.fixture(scope="module")
def llama_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model("llama", tmp_path_factory.mktemp("llama"))


@pytest.fixture
def proofs(tmp_path: Path) -> Proofs:
    return Proofs(tmp_path / "proofs")


def loaded(proofs: Proofs, folder: Path, name: str = "tiny", dtype: str = "float32") -> HeadModel:
    return proofs.load(folder, name=name, dtype=dtype, device="cpu", attention="sdpa")


def test_the_first_load_proves_and_later_ones_know(
    proofs: Proofs, llama_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = loaded(proofs, llama_folder)
    assert first.proof is not None
    assert first.proof.whole

    def again(_: object) -> None:
        pytest.fail("It was proved a second time.")

    monkeypatch.setattr("headscope.core.proof.prove", again)
    second = loaded(proofs, llama_folder, name="the same")
    assert second.proof == replace(first.proof, model="the same")
    assert proofs.get(first.info) == first.proof


def test_each_precision_has_its_own(proofs: Proofs, llama_folder: Path) -> None:
    wide, narrow = loaded(proofs, llama_folder), loaded(proofs, llama_folder, dtype="bfloat16")
    assert wide.proof is not None
    assert narrow.proof is not None
    assert wide.proof.checks[0].tolerance < narrow.proof.checks[0].tolerance
    assert proofs.get(wide.info) != proofs.get(narrow.info)


def test_other_weights_are_proved_anew(proofs: Proofs, llama_folder: Path, tmp_path: Path) -> None:
    first = loaded(proofs, llama_folder)
    folder = Path(shutil.copytree(llama_folder, tmp_path / "changed"))
    weights = load_file(folder / "model.safetensors")
    weights["model.layers.0.self_attn.q_proj.weight"] *= 2
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    changed = loaded(proofs, folder)
    assert changed.info.revision != first.info.revision
    assert changed.proof is not None
    assert changed.proof.revision == changed.info.revision
    assert changed.proof.checks != first.proof.checks  # type: ignore[union-attr]
    assert loaded(proofs, llama_folder).proof == first.proof


def test_what_is_no_proof_of_today_is_none(
    proofs: Proofs, llama_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = loaded(proofs, llama_folder).info
    (kept,) = (tmp_path / "proofs").glob("*.json")
    whole = json.loads(kept.read_text())
    others: list[Any] = [
        {**whole, "version": 0},
        {**whole, "code_version": "0.0"},
        {**whole, "library": "4.0.0"},
        {**whole, "checks": [1]},
        [],
    ]
    for changed in others:
        kept.write_text(json.dumps(changed))
        assert proofs.get(info) is None
    kept.write_text("{")
    assert proofs.get(info) is None
    kept.write_text(json.dumps({**whole, "library": "4.0.0"}))
    monkeypatch.setattr(module, "_library", lambda: "")  # a page's process, which has no transformers
    assert proofs.get(info) is not None
