"""A model in memory is kept under a name that says its content, once, and never in the place of another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from core.conftest import save_model
from headscope.core.model.folder import headscope_json
from headscope.errors import Invalid, Refused
from headscope.models.catalogue import Catalogue
from headscope.models.loaded import keep
from headscope.settings import Settings


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as a user has it, its model's name in no catalogue."""
    return save_model("llama", tmp_path_factory.mktemp("from") / "My Llama")


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    return Catalogue(Settings(data_dir=tmp_path))


@pytest.fixture
def model(folder: Path) -> Any:
    return transformers.AutoModelForCausalLM.from_pretrained(folder)


@pytest.fixture
def tokenizer(folder: Path) -> Any:
    return transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))


def test_an_untouched_model_is_the_folder_it_came_from(
    catalogue: Catalogue, model: Any, folder: Path
) -> None:
    import tokenizers

    same = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    before = catalogue.entries()
    assert keep(catalogue, model, same) == str(folder)
    assert catalogue.entries() == before


def test_a_changed_model_is_kept_under_its_content(catalogue: Catalogue, model: Any, tokenizer: Any) -> None:
    with torch.no_grad():
        model.model.layers[0].self_attn.o_proj.weight[0, 0] += 1
    before = len(catalogue.all())
    name = keep(catalogue, model, tokenizer)
    assert name.startswith("my-llama-")
    info = catalogue.info(name)
    assert (info.n_layers, info.n_heads) == (3, 4)
    assert headscope_json(catalogue.folder(name))["content"].startswith(name.removeprefix("my-llama-"))
    again = transformers.AutoModelForCausalLM.from_pretrained(catalogue.folder(name))
    for key, tensor in model.state_dict().items():
        assert torch.equal(again.state_dict()[key], tensor)
    assert keep(catalogue, model, tokenizer) == name, "the same content, the same folder"
    assert len(catalogue.all()) == before + 1
    with torch.no_grad():
        model.model.layers[0].self_attn.o_proj.weight[0, 0] += 1
    other = keep(catalogue, model, tokenizer)
    assert other != name
    assert catalogue.info(other).revision != info.revision


def test_a_name_of_ones_own_is_never_given_twice(catalogue: Catalogue, model: Any, tokenizer: Any) -> None:
    with torch.no_grad():
        model.model.norm.weight += 1
    assert keep(catalogue, model, tokenizer, "mine") == keep(catalogue, model, tokenizer, "mine") == "mine"
    with torch.no_grad():
        model.model.norm.weight += 1
    for taken in ("mine", "headscope-2l"):
        with pytest.raises(Refused) as error:
            keep(catalogue, model, tokenizer, taken)
        assert error.value.code == "model-exists"
    with pytest.raises(Invalid) as bad:
        keep(catalogue, model, tokenizer, "../mine")
    assert bad.value.code == "bad-model-name"
    assert not [path for path in catalogue.place("any").parent.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("tokenizer", [None, "words", object()])
def test_a_tokenizer_that_can_not_be_kept(catalogue: Catalogue, model: Any, tokenizer: Any) -> None:
    with pytest.raises(Invalid, match="can't be kept") as error:
        keep(catalogue, model, tokenizer)
    assert error.value.code == "bad-tokenizer"
    assert "AutoTokenizer" in error.value.remedy


def test_a_model_whose_heads_are_not_known(catalogue: Catalogue, tokenizer: Any) -> None:
    with pytest.raises(Invalid) as error:
        keep(catalogue, torch.nn.Linear(2, 2), tokenizer)
    assert error.value.code == "unsupported-architecture"
