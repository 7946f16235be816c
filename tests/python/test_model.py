"""``hs.load`` and ``hs.gated``: names, folders, and models in memory as transformers makes them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

import headscope as hs
from core.conftest import save_model
from headscope.errors import Invalid, NotFound, Refused, Unavailable
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from python.conftest import TINY

TEXT = "the cat sat on the mat"


@pytest.fixture(scope="module", params=["llama", "gpt2"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder whose tokenizer transformers loads, too."""
    made = save_model(request.param, tmp_path_factory.mktemp(request.param))
    words = {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<|bos|>", "eos_token": "<|bos|>"}
    (made / "tokenizer_config.json").write_text(json.dumps(words))
    return made


def in_memory(folder: Path) -> tuple[torch.nn.Module, object]:
    module = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    return module, transformers.AutoTokenizer.from_pretrained(folder)


def changed(folder: Path) -> tuple[torch.nn.Module, object]:
    """The same model after a step of somebody's training."""
    module, tokenizer = in_memory(folder)
    with torch.no_grad():
        next(p for p in module.parameters() if p.ndim > 1).add_(0.01)
    return module, tokenizer


def test_by_name(here: Path) -> None:
    model = hs.load("headscope-2l")
    assert (model.info.n_layers, model.info.n_heads) == (2, 8)
    assert model.module is None
    assert hs.load(model) is model
    assert model.info.revision in repr(model)


def test_what_it_is_proved_to_give(here: Path) -> None:
    model = hs.load("headscope-2l")
    assert all(model.proof.has(each) for each in ("patterns", "gating", "circuits", "attribution"))
    assert list((here / "proofs").glob(f"{model.info.revision}-float32.json"))


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("nope", NotFound, "headscope-2l"),
        ("some/model", NotFound, "headscope models fetch some/model"),
        ("smollm2-135m", Unavailable, "headscope models fetch smollm2-135m"),
    ],
)
def test_what_is_not_here_says_how_to_get_it(here: Path, name: str, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        hs.load(name)


def test_a_folder(here: Path, folder: Path) -> None:
    model = hs.load(folder)
    assert model.folder == folder
    assert hs.load(f"{folder}/").name == model.name
    assert model.logits(TEXT).shape == (len(model.tokenizer.encode(TEXT)), model.info.d_vocab)


def test_a_model_in_memory_that_still_is_its_folder_is_that_folder(here: Path, folder: Path) -> None:
    model = hs.load(in_memory(folder))
    assert model.folder == folder
    assert model.info.revision == hs.load(folder).info.revision
    assert not [path for path in (here / "models").iterdir() if path.is_dir()]


def test_other_weights_are_kept_by_their_content(here: Path, folder: Path) -> None:
    model = hs.load(changed(folder))
    assert model.folder.parent == here / "models"
    assert model.info.revision != hs.load(folder).info.revision
    written = (model.folder / "model.safetensors").stat().st_mtime_ns
    again = hs.load(*changed(folder))
    assert (again.name, again.info) == (model.name, model.info)
    assert (again.folder / "model.safetensors").stat().st_mtime_ns == written
    assert model.name in {entry.name for entry in Catalogue(Settings()).all() if entry.ready}
    assert hs.load(model.name).info == model.info


def test_a_name_is_given_once(here: Path, folder: Path) -> None:
    assert hs.load(in_memory(folder), name="mine").name == "mine"
    assert hs.load(in_memory(folder), name="mine").name == "mine"
    with pytest.raises(Refused) as taken:
        hs.load(changed(folder), name="mine")
    assert taken.value.code == "model-exists"
    with pytest.raises(Invalid) as bad:
        hs.load(changed(folder), name="../mine")
    assert bad.value.code == "bad-model-name"


def test_a_run_on_it_and_its_gates_on_the_very_module(here: Path, folder: Path) -> None:
    module, tokenizer = changed(folder)
    model = hs.load((module, tokenizer))
    rows = [(f"the {a}", "cat") for a in ("dog", "cat", "mat", "dog and the cat", "cat and the dog", "rat")]
    run = hs.run("chg", model=model, task=rows, seeds=1, **{**TINY, "n_train": 4, "n_test": 2})
    assert run.status == "done"
    assert run.result.model.revision == model.info.revision
    assert run.result.g_plus.shape == (1, 3, 4)
    gates = run.gates("G+")
    plain = model.logits(TEXT)
    with hs.gated(model, gates):
        handled = model.logits(TEXT)
    with hs.gated(model, np.ones((3, 4))):
        np.testing.assert_array_equal(model.logits(TEXT), plain)
    with torch.no_grad(), hs.gated(module, gates.gates):
        ids = torch.tensor([model.tokenizer.encode(TEXT)])
        np.testing.assert_array_equal(module(input_ids=ids).logits[0].numpy(), handled)
    with hs.gated(hs.load(model.name), gates):
        pass
    assert np.abs(handled - plain).max() > 1e-3
    kept = hs.load(model.name)
    with hs.gated(kept, gates):
        np.testing.assert_allclose(kept.logits(TEXT), handled, atol=1e-4)


def test_gates_of_other_weights_are_refused(here: Path, folder: Path) -> None:
    model, other = hs.load(folder), hs.load(changed(folder))
    from headscope.core.gating.gate_vector import gate_vector

    gates = gate_vector("all", model.info, np.ones((3, 4)))
    with pytest.raises(Invalid) as wrong:
        hs.gated(other, gates).__enter__()
    assert wrong.value.code == "other-model"
    with pytest.raises(Invalid, match="3x4"):
        hs.gated(model, np.ones((2, 2))).__enter__()


def test_what_is_no_model(here: Path, folder: Path) -> None:
    module, tokenizer = in_memory(folder)
    with pytest.raises(Invalid) as alone:
        hs.load(module)
    assert alone.value.code == "tokenizer-missing"
    with pytest.raises(Invalid) as slow:
        hs.load((module, object()))
    assert slow.value.code == "bad-tokenizer"
    with pytest.raises(Invalid) as strange:
        hs.load((torch.nn.Linear(2, 2), tokenizer))
    assert strange.value.code == "unsupported-architecture"


def test_a_bare_tokenizer_will_do(here: Path, folder: Path) -> None:
    import tokenizers

    module, _ = changed(folder)
    engine = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    model = hs.load((module, engine), name="bare")
    assert model.tokenizer.encode(TEXT) == hs.load(folder).tokenizer.encode(TEXT)
