"""One model, wherever it comes from: folder, its parent, the hub's cache, the hub, a GGUF file."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import time
from pathlib import Path

import pytest
import torch

from core.conftest import save_model
from headscope.core.model.load import load_model
from headscope.errors import Invalid, NotFound, Refused, Unavailable
from headscope.models import hub
from headscope.models.catalogue import Catalogue
from headscope.models.locate import located
from headscope.settings import Settings
from models.fake_hub import COMMIT
from models.fake_hub import hub as serve

IDS = torch.tensor([[0, 5, 7, 11]])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model("llama", tmp_path_factory.mktemp("llama"))


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    return Catalogue(Settings(data_dir=tmp_path / "data"))


def in_cache(made: Path, root: Path, commit: str = COMMIT, main: bool = True) -> Path:
    """The model as the hub's library keeps it: links into a store of blobs."""
    cache = root / "models--org--name"
    snapshot, blobs = cache / "snapshots" / commit, cache / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir(exist_ok=True)
    for file in sorted(made.iterdir()):
        blob = blobs / f"{commit[:8]}-{file.name}"
        shutil.copy(file, blob)
        (snapshot / file.name).symlink_to(os.path.relpath(blob, snapshot))
    (cache / "refs").mkdir(exist_ok=True)
    if main:
        (cache / "refs" / "main").write_text(commit)
    return cache


def same(catalogue: Catalogue, name: str, made: Path) -> bool:
    """Whether a name gives the very model that lies in ``made``: revision and logits."""
    one = load_model(catalogue.folder(name), name="one", device="cpu")
    two = load_model(made, name="two", device="cpu")
    return one.info.revision == two.info.revision and torch.equal(one.logits(IDS), two.logits(IDS))


def test_the_hubs_cache_its_snapshot_and_a_folder_around_a_model(
    made: Path, catalogue: Catalogue, tmp_path: Path
) -> None:
    cache = in_cache(made, tmp_path)
    around = tmp_path / "around"
    shutil.copytree(made, around / "inside")
    for path in (cache, cache / "snapshots" / COMMIT, around, around / "inside"):
        assert same(catalogue, str(path), made)
    assert catalogue.add("mine", cache).folder == (cache / "snapshots" / COMMIT).resolve()
    assert same(catalogue, "mine", made)


def test_of_several_snapshots_the_main_one_is_meant_and_else_it_must_be_said(
    made: Path, tmp_path: Path
) -> None:
    in_cache(made, tmp_path, "a" * 40, main=False)
    cache = in_cache(made, tmp_path, "b" * 40, main=False)
    with pytest.raises(Invalid, match="2 snapshots") as error:
        located(cache)
    assert error.value.code == "several-models"
    (cache / "refs" / "main").write_text("a" * 40)
    assert located(cache).name == "a" * 40


def test_a_folder_around_several_models_names_them(made: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        shutil.copytree(made, tmp_path / "around" / name)
    with pytest.raises(Invalid, match="several models: one, two"):
        located(tmp_path / "around")


def test_a_hub_name_is_the_folder_that_the_hub_has(
    made: Path, catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = Path(shutil.copytree(made, tmp_path / "there"))
    shutil.copy(there / "model.safetensors", there / "consolidated.safetensors")
    (there / "pytorch_model.bin").write_bytes(b"a pickle")
    (there / "original").mkdir()
    shutil.copy(there / "model.safetensors", there / "original" / "model.safetensors")
    said: list[tuple[str, float | None, float | None]] = []
    with serve({"org/name": there}) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        folder = catalogue.fetch("org/name", lambda *words: said.append(words))
    here = {file.name for file in folder.rglob("*") if file.is_file()}
    assert here == {file.name for file in made.iterdir()} | {"headscope.json"}
    assert same(catalogue, "org/name", made)
    entry = catalogue.get("org/name")
    assert (entry.source, entry.licence, entry.ready) == ("hub", "apache-2.0", True)
    assert said[0][0] == "asking the hub"


def test_what_the_hub_has_is_refused_before_it_is_downloaded(
    made: Path, catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pickled, packed, encoder = (Path(shutil.copytree(made, tmp_path / name)) for name in ("a", "b", "c"))
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    for folder, more in (
        (packed, {"quantization_config": {"quant_method": "gptq"}}),
        (encoder, {"is_encoder_decoder": True}),
    ):
        config = json.loads((folder / "config.json").read_text()) | more
        (folder / "config.json").write_text(json.dumps(config))
    models = {"org/pickled": pickled, "org/packed": packed, "org/encoder": encoder, "org/gated": made}
    with serve(models, gated=frozenset({"org/gated"})) as address:
        monkeypatch.setenv("HF_ENDPOINT", address)
        for name, kind, code in (
            ("org/pickled", Invalid, "pickled-weights"),
            ("org/packed", Invalid, "quantised-weights"),
            ("org/encoder", Invalid, "unsupported-architecture"),
            ("org/gated", Refused, "gated-model"),
            ("org/none", NotFound, "unknown-model"),
        ):
            with pytest.raises(kind) as error:
                catalogue.fetch(name)
            assert error.value.code == code, name
    assert not list((tmp_path / "data").rglob("*.safetensors"))


def test_a_hub_that_does_not_answer_is_said_within_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    silent = socket.create_server(("127.0.0.1", 0))
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
    started = time.monotonic()
    with pytest.raises(Unavailable, match=r"can't be reached for org/name: .*HTTPS_PROXY.*models add"):
        hub.look("org/name", patience=4)
    assert time.monotonic() - started < 100, "a busy machine takes its time to start"
    silent.close()


def test_a_gguf_file_is_unpacked_once_and_named(
    catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from models.test_gguf import drawn, write

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    file = write(tmp_path / "Tiny.gguf", drawn())
    entry = catalogue.get(str(file))
    assert (entry.ready, entry.remedy) == (False, f"headscope models add tiny {file}")
    for name, path in (("one", file), ("two", tmp_path / "alone")):
        if path != file:
            path.mkdir()
            shutil.copy(file, path / "model.gguf")
        assert catalogue.add(name, path).ready
    one, two = catalogue.info("one"), catalogue.info("two")
    assert (one.revision, one.n_layers, one.n_kv_heads) == (two.revision, 2, 2)
    assert "GGUF" in one.note
