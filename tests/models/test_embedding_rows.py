"""Tokenizers with more tokens than the embedding has rows, and fewer."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from core.conftest import save_model
from headscope.core.model.info import model_info
from headscope.core.model.tokens import Tokenizer
from headscope.core.patterns.random_repeats import repeated_tokens
from headscope.errors import Invalid
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings
from headscope.tasks.vocabulary import ordinary_tokens


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model("llama", tmp_path_factory.mktemp("llama"))


def with_added(made: Path, to: Path, *contents: str) -> Path:
    """Tokens behind the vocabulary's 300, which the embedding ends with."""
    folder = Path(shutil.copytree(made, to))
    spec = json.loads((folder / "tokenizer.json").read_text())
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": False}
    start = len(spec["model"]["vocab"])
    spec["added_tokens"] += [{"id": start + n, "content": text, **plain} for n, text in enumerate(contents)]
    (folder / "tokenizer.json").write_text(json.dumps(spec))
    return folder


def resized(made: Path, to: Path, rows: int) -> Path:
    """The embedding cut or lengthened."""
    import torch
    from safetensors.torch import load_file, save_file

    folder = Path(shutil.copytree(made, to))
    weights = load_file(folder / "model.safetensors")
    for name in ("model.embed_tokens.weight", "lm_head.weight"):
        matrix = torch.zeros(rows, 32)
        n = min(rows, 300)
        matrix[:n] = weights[name][:n]
        weights[name] = matrix
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text()) | {"vocab_size": rows}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def test_an_added_token_beyond_the_embedding_is_refused_by_name_and_the_rest_goes_on(
    made: Path, tmp_path: Path
) -> None:
    n = Tokenizer.from_folder(made).n_vocab
    folder = resized(with_added(made, tmp_path / "more", "[image]"), tmp_path / "own", n)
    tokenizer = Catalogue(Settings(data_dir=tmp_path / "data")).tokenizer(str(folder))
    assert tokenizer.n_vocab == n
    assert tokenizer.encode("the cat") == Tokenizer.from_folder(made).encode("the cat")
    for read in (tokenizer.encode, tokenizer.tokens):
        with pytest.raises(Invalid, match=rf"'\[image\]' \({n}\) is none of the model's") as error:
            read("the [image] cat")
        assert error.value.code == "unknown-token"
    assert max(ordinary_tokens(tokenizer)) < n
    assert repeated_tokens(tokenizer, 100, 4, 0).max() < n


def test_a_tokenizer_of_another_model_is_refused(made: Path, tmp_path: Path) -> None:
    folder = resized(made, tmp_path / "own", 200)
    with pytest.raises(Invalid, match=r"tokens; the model's embedding has 200 rows") as error:
        model_info(folder, name="own")
    assert error.value.code == "other-tokenizer"
    assert "200 rows" in str(Catalogue(Settings(data_dir=tmp_path / "data")).get(str(folder)).remedy)


def test_rows_without_a_token_go_on(made: Path, tmp_path: Path) -> None:
    folder = resized(made, tmp_path / "own", 320)
    info = model_info(folder, name="own")
    assert info.d_vocab == 320
    assert Tokenizer.from_folder(folder, info.d_vocab).n_vocab == Tokenizer.from_folder(made).n_vocab


def test_configuration_and_embedding_of_two_models_are_refused(made: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(made, tmp_path / "own"))
    config = json.loads((folder / "config.json").read_text()) | {"vocab_size": 301}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(Invalid, match=r"vocabulary of 301; the embedding has 300 rows"):
        model_info(folder, name="own")
