"""A model's folder: what names its weights, and each kind of damage said with the file it is in."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from core.conftest import save_model
from headscope.core.model import folder as folders
from headscope.core.model.info import model_info
from headscope.errors import HeadscopeError, Invalid, NotFound
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model("llama", tmp_path_factory.mktemp("llama"))


@pytest.fixture
def own(made: Path, tmp_path: Path) -> Path:
    """A folder to damage."""
    return Path(shutil.copytree(made, tmp_path / "own"))


def rewrite(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(change(content)), encoding="utf-8")


# -- what a folder says ----------------------------------------------------------------------------------


def test_counts_are_those_of_the_configuration_and_the_headers(made: Path) -> None:
    info = model_info(made, name="tiny")
    shapes = {name: array.shape for name, array in load_file(made / "model.safetensors").items()}
    assert {name: tensor.shape for name, tensor in folders.check(made).items()} == shapes
    assert (info.n_layers, info.n_heads, info.n_kv_heads, info.d_model, info.d_head) == (3, 4, 2, 32, 8)
    assert (info.n_ctx, info.d_vocab, info.bos) == (64, 300, True)
    assert info.n_params == sum(int(np.prod(shape)) for shape in shapes.values())
    assert info.n_params - info.n_params_non_embedding == 2 * 300 * 32
    assert model_info(made, name="tiny", dtype="bfloat16").revision == info.revision


@pytest.mark.parametrize(
    ("stated", "generation", "ids"),
    [
        (7, None, {7}),
        ([7, 8], None, {7, 8}),
        (7, {"eos_token_id": [1, 2]}, {1, 2}),
        (7, {}, {7}),
        (7, "torn", {7}),
        (7, [], {7}),
        (None, None, set()),
        ([7, None, "8"], None, {7}),
    ],
)
def test_which_tokens_end_a_text(own: Path, stated: Any, generation: Any, ids: set[int]) -> None:
    rewrite(own / "config.json", lambda config: {**config, "eos_token_id": stated})
    path = own / "generation_config.json"
    path.unlink(missing_ok=True)
    if generation is not None:
        path.write_text("{" if generation == "torn" else json.dumps(generation))
    assert folders.end_tokens(own) == ids


def test_a_multimodal_models_text_part_is_read(own: Path) -> None:
    rewrite(
        own / "config.json",
        lambda config: {
            "architectures": ["Both"],
            "hidden_size": 1,
            "text_config": {**config, "vocab_size": 7},
        },
    )
    config = folders.read_config(own)
    assert (config["architectures"], config["hidden_size"], config["vocab_size"]) == (["Both"], 32, 7)


@pytest.mark.parametrize(
    ("config", "asked", "used"),
    [
        ({"architectures": ["LlamaForCausalLM"]}, "sdpa", "sdpa"),
        ({"architectures": ["Gemma2ForCausalLM"], "attn_logit_softcapping": 50.0}, "sdpa", "eager"),
        ({"architectures": ["GptOss"], "model_type": "gpt_oss"}, "sdpa", "eager"),
        ({"architectures": [folders.ATTENTION_ONLY]}, "sdpa", "eager"),
        ({"architectures": ["LlamaForCausalLM"]}, "eager", "eager"),
    ],
)
def test_attention_that_would_leave_something_out_is_not_used(
    config: dict[str, Any], asked: str, used: str
) -> None:
    assert folders.effective_attention(config, asked) == used


# -- damage ----------------------------------------------------------------------------------------------


def header(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Write a file of weights again with another header."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    head = json.dumps(change(json.loads(content[8 : 8 + length]))).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + content[8 + length :])


def first(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A change of a header's first tensor."""

    def of_header(head: dict[str, Any]) -> dict[str, Any]:
        name = next(name for name in head if name != "__metadata__")
        return {**head, name: change(head[name])}

    return of_header


WEIGHTS: dict[str, Callable[[Path], object]] = {
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-10]),
    "too long": lambda path: path.write_bytes(path.read_bytes() + b"more"),
    "empty": lambda path: path.write_bytes(b""),
    "seven bytes": lambda path: path.write_bytes(b"7 bytes"),
    "a pointer of git": lambda path: path.write_text("version https://git-lfs.github.com/spec/v1\n"),
    "a header without end": lambda path: path.write_bytes(struct.pack("<Q", 2**62) + b"{}"),
    "a header that is no JSON": lambda path: path.write_bytes(struct.pack("<Q", 2) + b"{]"),
    "a header that is a list": lambda path: path.write_bytes(struct.pack("<Q", 2) + b"[]"),
    "another shape": lambda path: header(path, first(lambda tensor: {**tensor, "shape": [1]})),
    "no offsets": lambda path: header(path, first(lambda tensor: {"dtype": "F32", "shape": [1]})),
    "words for offsets": lambda path: header(path, first(lambda tensor: {**tensor, "data_offsets": "ab"})),
}


@pytest.mark.parametrize("damage", WEIGHTS)
def test_damaged_weights_are_named_and_nothing_is_loaded(own: Path, damage: str) -> None:
    WEIGHTS[damage](own / "model.safetensors")
    for use in (folders.check, lambda folder: model_info(folder, name="own")):
        with pytest.raises(Invalid, match="not a whole safetensors file") as error:
            use(own)
        assert error.value.code == "corrupt-weights"
        assert "model.safetensors" in error.value.message
    entry = Catalogue(Settings(data_dir=own.parent / "data")).get(str(own))
    assert not entry.ready
    assert entry.bytes_on_disk is None
    assert "model.safetensors" in str(entry.remedy)


FOLDERS: dict[str, tuple[Callable[[Path], object], type[HeadscopeError], str, str]] = {
    "no folder": (shutil.rmtree, NotFound, "no-model-folder", "There is no folder"),
    "no config": (lambda f: (f / "config.json").unlink(), NotFound, "no-model-folder", "no config.json"),
    "config torn": (lambda f: (f / "config.json").write_text("{"), Invalid, "bad-config", "is not JSON"),
    "config a list": (
        lambda f: (f / "config.json").write_text("[]"), Invalid, "bad-config", "does not hold an object",
    ),
    "no weights": (lambda f: (f / "model.safetensors").unlink(), Invalid, "no-weights", "no *.safetensors"),
    "pickled": (
        lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin"), Invalid, "pickled-weights",
        "could run code",
    ),
    "a part missing": (
        lambda f: (f / "model.safetensors.index.json").write_text(
            '{"weight_map": {"a": "model.safetensors", "b": "model-2.safetensors"}}'
        ), Invalid, "missing-weights", "model-2.safetensors",
    ),
    "index torn": (
        lambda f: (f / "model.safetensors.index.json").write_text('{"weight_map": []}'), Invalid,
        "bad-config", "index.json is damaged",
    ),
    "no architecture": (
        lambda f: rewrite(f / "config.json", lambda c: {**c, "architectures": []}), Invalid, "bad-config",
        "names no architecture",
    ),
    "no layers": (
        lambda f: rewrite(f / "config.json", lambda c: {**c, "num_hidden_layers": "three"}), Invalid,
        "bad-config", "num_hidden_layers",
    ),
    "no tokenizer": (
        lambda f: (f / "tokenizer.json").unlink(), NotFound, "no-tokenizer", "no tokenizer.json",
    ),
    "tokenizer torn": (
        lambda f: (f / "tokenizer.json").write_text("{}"), Invalid, "bad-tokenizer", "not a tokenizer file",
    ),
    "record torn": (
        lambda f: (f / "headscope.json").write_text("{"), Invalid, "bad-config", "headscope.json is not JSON",
    ),
}  # fmt: skip


@pytest.mark.parametrize("damage", FOLDERS)
def test_what_a_folder_lacks_is_said(own: Path, damage: str) -> None:
    change, kind, code, says = FOLDERS[damage]
    change(own)
    with pytest.raises(kind) as error:
        model_info(own, name="own")
    assert (type(error.value), error.value.code) == (kind, code)
    assert says in error.value.message
    assert error.value.remedy


def test_a_folder_that_breaks_later_is_still_listed_and_says_why(own: Path, tmp_path: Path) -> None:
    catalogue = Catalogue(Settings(data_dir=tmp_path / "data"))
    assert catalogue.add("mine", own).ready
    assert catalogue.get("mine").bytes_on_disk == (own / "model.safetensors").stat().st_size
    (own / "headscope.json").write_text("{")
    entry = catalogue.get("mine")
    assert (entry.name, entry.title, entry.ready) == ("mine", "mine", False)
    assert "Remove the file" in str(entry.remedy)


def test_what_a_record_says_is_shown(own: Path, tmp_path: Path) -> None:
    record = {"title": "A title", "summary": "What it is.", "licence": "CC0", "kind": "hub"}
    (own / "headscope.json").write_text(json.dumps(record))
    (own / "README.md").write_text("# The card", encoding="utf-8")
    entry = Catalogue(Settings(data_dir=tmp_path / "data")).get(str(own))
    assert (entry.title, entry.summary, entry.licence, entry.source) == (
        "A title",
        "What it is.",
        "CC0",
        "hub",
    )
    assert entry.card == "# The card"
    (own / "README.md").unlink()
    assert entry.card is None


def test_a_hub_model_that_was_fetched_is_found_by_its_whole_name(own: Path, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "data")
    place = settings.data_dir / "models" / "some--model"
    shutil.copytree(own, place)
    (place / "headscope.json").write_text(json.dumps({"name": "some/model", "kind": "hub"}))
    catalogue = Catalogue(settings)
    assert catalogue.folder("some/model") == place == catalogue.fetch("some/model")
    assert catalogue.get("some/model").source == "hub"
    with pytest.raises(NotFound, match=r"Known: .*some/model"):
        catalogue.get("some--model")


@pytest.mark.parametrize("name", ["", "..", "../up", "a/b", ".hidden", "-dash", "a b", "ä", "x" * 65])
def test_names_that_could_lead_elsewhere(tmp_path: Path, own: Path, name: str) -> None:
    catalogue = Catalogue(Settings(data_dir=tmp_path / "data"))
    for use in (lambda: catalogue.add(name, own), lambda: catalogue.place(name)):
        with pytest.raises(Invalid) as error:
            use()
        assert error.value.code == "bad-model-name"
    assert not (tmp_path / "data").exists()
