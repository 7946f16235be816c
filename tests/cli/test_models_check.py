"""``headscope models check`` and ``add``: what a model gives is said before anything is computed."""

from __future__ import annotations

from pathlib import Path

import pytest
import transformers

from cli.conftest import Shell
from core.conftest import D_VOCAB, save_model, save_tokenizer

SIZES = {"num_hidden_layers": 2, "num_attention_heads": 4, "hidden_size": 32, "intermediate_size": 48}


@pytest.fixture(scope="module")
def llama_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model("llama", tmp_path_factory.mktemp("llama"))


def saved(config: transformers.PretrainedConfig, folder: Path) -> Path:
    """A random model as a folder."""
    folder.mkdir()
    save_tokenizer(folder)
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    return folder


@pytest.fixture
def norms_last(tmp_path: Path) -> Path:
    """A model whose norms come after what is written: its stream is no sum, gates and patterns are right."""
    config = transformers.OpenAIGPTConfig(n_layer=2, n_head=4, n_embd=32, n_positions=64, vocab_size=D_VOCAB)
    return saved(config, tmp_path / "gpt1")


@pytest.fixture
def looks_ahead(tmp_path: Path) -> Path:
    """A model that isn't causal."""
    config = transformers.LlamaConfig(
        is_causal=False, vocab_size=D_VOCAB, max_position_embeddings=64, **SIZES
    )  # fmt: skip
    return saved(config, tmp_path / "ahead")


def test_the_table_names_check_capability_figure_and_verdict(shell: Shell) -> None:
    said = shell("models", "check", "headscope-2l")
    (row,) = [line for line in said.stdout.splitlines() if line.startswith("patterns equal the plain")]
    assert "patterns" in row.split()[5:]
    assert row.split()[-1] == "holds"
    assert "headscope-2l is read right." in said.stderr
    assert "Allowed in float32: 0.0001" in said.stderr
    kept = shell.json("models", "check", "headscope-2l", "--json")
    assert {each["name"] for each in kept["capabilities"] if each["has"]} == {
        "logits", "patterns", "gating", "circuits", "attribution",
    }  # fmt: skip
    assert all(check["difference"] <= check["tolerance"] for check in kept["checks"])


def test_what_fails_ends_with_one(shell: Shell, norms_last: Path) -> None:
    said = shell("models", "check", norms_last, code=1)
    assert "fails" in said.stdout
    assert "can't give circuits from weights, attribution of logits to parts." in said.stderr


def test_a_model_that_gives_something_is_added_and_the_rest_said(shell: Shell, norms_last: Path) -> None:
    said = shell("models", "add", "mine", norms_last).stderr
    assert "mine can't give circuits from weights" in said
    assert "mine is added" in said


def test_a_model_that_can_do_nothing_is_not_added(shell: Shell, looks_ahead: Path) -> None:
    assert "isn't causal" in shell("models", "add", "mine", looks_ahead, code=2).stderr
    assert "mine" not in shell("models", "list").stdout


def test_a_model_that_cannot_be_loaded_is_not_added(shell: Shell, looks_ahead: Path) -> None:
    config = looks_ahead / "config.json"
    config.write_text(
        config.read_text().replace('"llama"', '"nothing-known"').replace("LlamaFor", "NothingFor")
    )
    assert "NothingFor" in shell("models", "add", "mine", looks_ahead, code=2).stderr
    assert "mine" not in shell("models", "list").stdout


def test_adding_shows_what_was_found(shell: Shell, llama_folder: Path) -> None:
    said = shell("models", "add", "mine", llama_folder).stderr
    assert "z times W_O is what attention writes" in said
    assert "mine is read right." in said
    assert "mine is added" in said


def test_a_run_that_needs_what_is_lost_is_refused_before_it_begins(shell: Shell, norms_last: Path) -> None:
    shell("models", "check", norms_last, code=1)
    said = shell("run", "residual", "--model", norms_last, code=2).stderr
    assert "can't give circuits from weights: patterns times s x W_V" in said
    assert "attention patterns, gates on heads" in said
    assert shell.json("runs", "list", "--json")["total"] == 0
