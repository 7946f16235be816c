"""Models are found by name or path, added by the operator, and say what to do where they aren't here."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from headscope.errors import Invalid, NotFound, Refused, Unavailable
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    return Catalogue(Settings(data_dir=tmp_path / "data"))


@pytest.fixture
def own(catalogue: Catalogue, tmp_path: Path) -> Path:
    """A folder of the user's."""
    folder = Path(shutil.copytree(catalogue.folder("headscope-2l"), tmp_path / "my model"))
    (folder / "headscope.json").unlink()
    return folder


def test_what_is_known_without_a_network(catalogue: Catalogue) -> None:
    entries = {entry.name: entry for entry in catalogue.all()}
    assert list(entries) == ["headscope-2l", "smollm2-135m", "gemma3-270m"]
    assert entries["headscope-2l"].ready
    assert (entries["smollm2-135m"].ready, entries["smollm2-135m"].remedy) == (
        False,
        "headscope models fetch smollm2-135m",
    )
    with pytest.raises(Unavailable, match="headscope models fetch smollm2-135m") as refused:
        catalogue.folder("smollm2-135m")
    assert refused.value.code == "model-not-fetched"


def test_unknown_names_list_the_known(catalogue: Catalogue) -> None:
    with pytest.raises(NotFound, match="Known: headscope-2l, smollm2-135m, gemma3-270m") as unknown:
        catalogue.get("gpt5")
    assert unknown.value.code == "unknown-model"
    with pytest.raises(NotFound, match="headscope models fetch openai-community/gpt2"):
        catalogue.get("openai-community/gpt2")


def test_a_path_is_a_name(catalogue: Catalogue, own: Path) -> None:
    entry = catalogue.get(str(own))
    assert (entry.source, entry.ready, entry.folder) == ("folder", True, own)
    assert catalogue.info(str(own)).n_layers == 2


def test_adding_a_folder(catalogue: Catalogue, own: Path) -> None:
    entry = catalogue.add("mine", own)
    assert (entry.name, entry.source, entry.ready) == ("mine", "folder", True)
    assert catalogue.folder("mine") == own
    assert catalogue.tokenizer("mine").n_vocab == 512
    with pytest.raises(Refused, match="already"):
        catalogue.add("mine", own)
    with pytest.raises(Invalid, match="can't be a model's name"):
        catalogue.add("../evil", own)
    shutil.rmtree(own)
    gone = catalogue.get("mine")
    assert not gone.ready
    with pytest.raises(Unavailable, match="no folder"):
        catalogue.folder("mine")


def test_a_damaged_folder_is_not_added(catalogue: Catalogue, own: Path) -> None:
    weights = own / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    with pytest.raises(Invalid, match="not a whole safetensors file"):
        catalogue.add("mine", own)
    assert [entry.name for entry in catalogue.all()] == ["headscope-2l", "smollm2-135m", "gemma3-270m"]
    assert not catalogue.get(str(own)).ready


def test_info_follows_the_files(catalogue: Catalogue, own: Path) -> None:
    before = catalogue.info(str(own)).revision
    weights = own / "model.safetensors"
    changed = bytearray(weights.read_bytes())
    changed[-1] ^= 1
    weights.write_bytes(changed)
    assert catalogue.info(str(own)).revision != before


def test_fetching_what_is_here_does_nothing(catalogue: Catalogue) -> None:
    assert catalogue.fetch("headscope-2l") == catalogue.folder("headscope-2l")
