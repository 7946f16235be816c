"""The bundled model keeps what its card says: an induction circuit whose heads matter."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import torch

from headscope.models import train_two_layer
from headscope.models.catalogue import Catalogue
from headscope.models.measure_heads import Measured, measure
from headscope.settings import Settings

CORPUS = Path(__file__).parents[2] / "models-src" / "tinyshakespeare.txt"


@pytest.fixture(scope="module")
def folder() -> Path:
    return Catalogue(Settings(data_dir=Path("unused"))).folder("headscope-2l")


@pytest.fixture(scope="module")
def measured(folder: Path) -> Measured:
    tokenizer = Catalogue(Settings(data_dir=Path("unused"))).tokenizer("headscope-2l")
    text = CORPUS.read_text(encoding="utf-8")[:60_000]
    return measure(folder, torch.tensor(tokenizer.encode(text, bos=False)), seed=7)


def test_an_induction_head_matters(measured: Measured) -> None:
    inducing = measured.induction >= 0.7
    assert inducing.any()
    assert measured.rise[inducing].max() > 1
    assert not inducing[0].any(), "induction needs two layers"
    assert inducing.sum() <= 4, "so many that none would matter"


def test_a_previous_token_head_feeds_it(measured: Measured) -> None:
    assert measured.previous[0].max() >= 0.7
    assert measured.rise[0, measured.previous[0].argmax()] > 1


def test_repeats_are_predicted(measured: Measured) -> None:
    assert measured.loss_second < 0.5
    assert measured.loss_first > 6
    assert measured.loss_text < 4


def test_the_card_says_what_is_measured(folder: Path, measured: Measured) -> None:
    card = (folder / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| (\d)\.(\d) \| ([\d.]+) \| [\d.]+ \| ([\d.]+) \|", card)
    assert len(rows) == 16
    for layer, head, induction, previous in rows:
        assert float(induction) == pytest.approx(measured.induction[int(layer), int(head)].item(), abs=0.06)
        assert float(previous) == pytest.approx(measured.previous[int(layer), int(head)].item(), abs=0.06)


def test_it_is_small_and_described(folder: Path) -> None:
    assert (folder / "model.safetensors").stat().st_size < 4 * 10**6
    entry = Catalogue(Settings(data_dir=Path("unused"))).get("headscope-2l")
    assert (entry.ready, entry.source, entry.licence) == (True, "package", "MIT")
    info = Catalogue(Settings(data_dir=Path("unused"))).info("headscope-2l")
    assert (info.n_layers, info.n_heads, info.n_ctx, info.bos) == (2, 8, 256, True)


def test_the_recorded_revision_is_of_these_weights(folder: Path, tmp_path: Path) -> None:
    from headscope.core.model.folder import headscope_json
    from headscope.core.model.revision import revision_of_files

    (tmp_path / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    assert revision_of_files(tmp_path) == headscope_json(folder)["revision"]


def test_training_is_seeded() -> None:
    recipe = train_two_layer.Recipe(steps=3)
    corpus = torch.randint(1, 512, (5000,), generator=torch.Generator().manual_seed(0))
    one, two = (train_two_layer.train(recipe, train_two_layer._info(recipe), corpus) for _ in range(2))
    for first, second in zip(one.parameters(), two.parameters(), strict=True):
        assert torch.equal(first, second)


def test_the_script_writes_a_model_folder(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(CORPUS.read_text(encoding="utf-8")[:20_000], encoding="utf-8")
    train_two_layer.main([str(corpus), str(tmp_path / "model"), "--steps", "1", "--threads", "1"])
    entry = Catalogue(Settings(data_dir=tmp_path)).get(str(tmp_path / "model"))
    assert entry.ready
    assert entry.card is not None
    assert "| 1.7 |" in entry.card
