"""What tells one model folder from another: all that decides what it computes, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from core.conftest import save_tokenizer
from headscope.core.model.revision import parts, revision, revision_of_files, state
from headscope.gallery import shipped
from headscope.models.catalogue import Catalogue
from headscope.models.placing import complete_record, record
from headscope.settings import Settings

CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "num_hidden_layers": 1,
    "num_attention_heads": 2, "hidden_size": 4, "max_position_embeddings": 64, "vocab_size": 300,
    "rope_theta": 10000.0, "bos_token_id": 0, "eos_token_id": 0,
}  # fmt: skip


@pytest.fixture
def own(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    folder.mkdir()
    rng = np.random.default_rng(0)
    weights = {"model.embed_tokens.weight": rng.normal(size=(300, 4)).astype("f4")}
    weights["model.norm.weight"] = rng.normal(size=4).astype("f4")
    save_file(weights, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "tokenizer_config.json").write_text("{}")
    save_tokenizer(folder)
    return folder


def rewrite(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def flip_a_bit(path: Path) -> None:
    """Another file of the same size, with the time of the first."""
    before = path.stat()
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES: dict[str, Callable[[Path], object]] = {
    "a bit of the weights": lambda f: flip_a_bit(f / "model.safetensors"),
    "a setting": lambda f: rewrite(f / "config.json", rope_theta=500000.0),
    "the tokenizer": lambda f: rewrite(f / "tokenizer.json", normalizer={"type": "NFC"}),
    "the BOS policy": lambda f: rewrite(f / "tokenizer_config.json", add_bos_token=False),
    "what ends a text": lambda f: (f / "generation_config.json").write_text('{"eos_token_id": 7}'),
    "precision": lambda f: save_file(
        {name: array.astype("f2") for name, array in load_file(f / "model.safetensors").items()},
        f / "model.safetensors",
    ),
}


@pytest.mark.parametrize("recorded", [False, True], ids=["a plain folder", "a recorded one"])
@pytest.mark.parametrize("change", CHANGES)
def test_what_changes_the_computation_changes_the_revision(own: Path, change: str, recorded: bool) -> None:
    if recorded:
        record(own, {"title": "Mine", "kind": "pypi"})
    before = revision(own)
    assert not recorded or before == revision_of_files(own)
    CHANGES[change](own)
    assert revision(own) != before


@pytest.mark.parametrize(
    "change",
    [
        lambda f: (f / "README.md").write_text("other words"),
        lambda f: os.utime(f / "model.safetensors", (0, 0)),
        lambda f: rewrite(f / "config.json", transformers_version="9", _name_or_path="elsewhere"),
        lambda f: (f / "config.json").write_text(json.dumps(CONFIG, indent=4)),
        lambda f: (f / "adapter_config.json").write_text("{}"),
        lambda f: shutil.copy(f / "model.safetensors", f / "consolidated.safetensors"),
    ],
)
def test_what_changes_nothing_changes_no_revision(own: Path, change: Callable[[Path], object]) -> None:
    before = revision(own)
    change(own)
    assert revision(own) == before


def test_how_weights_are_cut_into_files_is_of_no_account(own: Path) -> None:
    before = revision(own)
    weights = load_file(own / "model.safetensors")
    (own / "model.safetensors").unlink()
    where = {}
    for number, name in enumerate(weights):
        where[name] = f"model-{number}.safetensors"
        save_file({name: weights[name]}, own / where[name])
    (own / "model.safetensors.index.json").write_text(json.dumps({"weight_map": where}))
    assert revision(own) == before


def test_links_into_a_store_of_blobs_are_the_files_that_they_mean(own: Path, tmp_path: Path) -> None:
    snapshot = tmp_path / "models--org--name" / "snapshots" / "abc"
    blobs = tmp_path / "models--org--name" / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for number, file in enumerate(sorted(own.iterdir())):
        shutil.copy(file, blobs / str(number))
        (snapshot / file.name).symlink_to(Path("..") / ".." / "blobs" / str(number))
    assert revision(snapshot) == revision(own)
    before = state(snapshot)
    flip_a_bit((snapshot / "model.safetensors").resolve())
    assert state(snapshot) != before
    assert revision(snapshot) != revision(own)


def test_a_record_that_knows_no_parts_holds_while_its_weights_do(own: Path) -> None:
    """Written when the weights alone were hashed: it is completed, then it covers the rest too."""
    known = revision_of_files(own)
    (own / "headscope.json").write_text(json.dumps({"revision": known, "title": "Mine"}))
    assert revision(own) == known
    complete_record(own)
    told = json.loads((own / "headscope.json").read_text())
    assert (told["parts"], told["title"], revision(own)) == (parts(own), "Mine", known)
    rewrite(own / "config.json", rope_theta=1.0)
    assert revision(own) != known
    rewrite(own / "config.json", rope_theta=10000.0)
    assert revision(own) == known


def test_a_record_of_other_weights_is_not_believed_nor_completed(own: Path) -> None:
    size = (own / "model.safetensors").stat().st_size
    (own / "headscope.json").write_text(json.dumps({"revision": "of another", "weight_bytes": size}))
    complete_record(own)
    assert "parts" not in json.loads((own / "headscope.json").read_text())
    assert revision(own) != "of another"


def test_files_that_nobody_touched_since_the_record_are_not_read_again(own: Path) -> None:
    """Else each process would read all of a model of many gigabytes before its first answer."""
    record(own, {})
    told = json.loads((own / "headscope.json").read_text())
    told["parts"]["weights"] = "as recorded"
    (own / "headscope.json").write_text(json.dumps(told))
    assert parts(own)["weights"] == "as recorded"
    os.utime(own / "model.safetensors")
    assert parts(own)["weights"] != "as recorded"


def test_the_bundled_model_keeps_the_revision_that_shipped_results_carry(tmp_path: Path) -> None:
    folder = Catalogue(Settings(data_dir=tmp_path)).folder("headscope-2l")
    told = json.loads((folder / "headscope.json").read_text(encoding="utf-8"))
    assert told["parts"] == parts(folder)
    (path,) = [file for file in shipped.files() if file.name == "headscope-2l-induction.json.gz"]
    assert shipped.read(path).result.model.revision == revision(folder) == told["revision"]
