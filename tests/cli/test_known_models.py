"""``headscope models list --known`` and ``headscope models try``."""

from __future__ import annotations

from pathlib import Path

import pytest
import transformers

from cli.conftest import Shell


def test_known_models_are_listed_with_what_they_take(shell: Shell) -> None:
    told = shell.json("models", "list", "--known", "--json")
    assert [one["title"] for one in told][:2] == ["GPT-2 small", "Pythia 160M"]
    assert told[0]["command"] == "headscope models fetch openai-community/gpt2"
    assert told[0]["fits"] in ("float32", "bfloat16", "no")
    assert "openai-community/gpt2" in shell("models", "list", "--known").stdout


def test_a_configuration_is_tried(shell: Shell, tmp_path: Path) -> None:
    transformers.GPT2Config(architectures=["GPT2LMHeadModel"]).save_pretrained(tmp_path)
    assert "12 layers of 12 heads" in shell("models", "try", tmp_path).stdout
    told = shell.json("models", "try", tmp_path / "config.json", "--json")
    assert (told["n_params"], told["proof"]["dtype"]) == (124_439_808, "float32")


@pytest.mark.parametrize("content", ["{", '{"architectures": ["T5"], "is_encoder_decoder": true}', None])
def test_what_can_not_be_tried_says_why(shell: Shell, tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "config.json").write_text(content)
    failed = shell("models", "try", tmp_path / "config.json", code=2)
    assert failed.stderr.strip()
