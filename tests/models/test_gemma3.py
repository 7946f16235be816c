"""Gemma 3 270M where it was fetched, against plain transformers in float32; its terms forbid that a test
fetches it by itself: ``HEADSCOPE_DATA_DIR=build/test-data headscope models fetch gemma3-270m``.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers

from headscope.core.attribution.logit import attribute
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.head_model import HeadModel
from headscope.core.model.load import load_model
from headscope.core.proof import prove
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings

NAME = "gemma3-270m"
DATA = Path(__file__).parents[2] / "build" / "test-data"
LAYERS, HEADS, WINDOW = 18, 4, 512
PROMPT = "When Mary and John went to the store, John gave a drink to"
CAPITALS = "Q: Germany\nA: Berlin\n\nQ: Italy\nA: Rome\n\nQ: Japan\nA: Tokyo\n\nQ: France\nA:"


@pytest.fixture(scope="module")
def folder() -> Path:
    entry = Catalogue(Settings(data_dir=DATA)).get(NAME)
    if not entry.ready or entry.folder is None:
        pytest.skip(f"{NAME} isn't in {DATA}, and its terms must be accepted by whoever fetches it")
    return entry.folder


@pytest.fixture(scope="module")
def model(folder: Path) -> HeadModel:
    return load_model(folder, name=NAME, device="cpu")


@pytest.fixture(scope="module")
def plain(folder: Path) -> transformers.PreTrainedModel:
    module: transformers.PreTrainedModel = transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager"
    )
    return module.eval()


def test_counts_and_what_must_be_known(model: HeadModel) -> None:
    info = model.info
    assert (info.n_layers, info.n_heads, info.n_kv_heads, info.d_head) == (LAYERS, HEADS, 1, 256)
    assert (info.n_params, info.d_vocab, info.bos, info.n_ctx) == (268_098_176, 262_144, True, 32_768)
    known = Catalogue(Settings(data_dir=DATA)).info(NAME)
    assert known.title == "Gemma 3 270M, 4-bit"
    assert "base model" in known.note


def test_tokens_are_those_of_transformers(folder: Path, model: HeadModel) -> None:
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    for text in (
        "The capital of France is",
        "  two  spaces\n\n\ta tab, 3.14159 and 1,000,000",
        "naïve café e\u0301 Ünïcödé 日本語のテキスト 😀👩\u200d🚀 \u200b",
        "def f(x):\n    return x ** 2  # don't\n",
    ):
        assert model.tokenizer.encode(text) == theirs(text).input_ids
        tokens = model.tokenizer.tokens(text)
        assert b"".join(token.bytes for token in tokens if not token.special) == text.encode()
    assert model.tokenizer.encode("a") == [2, *model.tokenizer.encode("a", bos=False)]


def test_all_that_is_read_of_it_is_proved(model: BridgedModel) -> None:
    proof = prove(model)
    assert {check.verdict for check in proof.checks} == {"holds"}, [c for c in proof.checks if c.difference]


@torch.no_grad()
@pytest.mark.parametrize("length", [None, WINDOW + 30], ids=["a prompt", "past the window"])
def test_logits_and_patterns(
    model: HeadModel, plain: transformers.PreTrainedModel, length: int | None
) -> None:
    ids = model.tokenizer.encode(PROMPT)
    if length:
        ids = (ids * length)[:length]
    last = len(ids) - 1
    wanted = plain(torch.tensor([ids]), output_attentions=True, logits_to_keep=1)
    worst: dict[int, float] = {}

    def visit(layer: int, pattern: torch.Tensor, _: torch.Tensor | None) -> None:
        worst[layer] = float((pattern - wanted.attentions[layer]).abs().max())

    with model.reading(visit):
        found = model.logits_at(torch.tensor([ids]), torch.tensor([[0, last]]))
    assert torch.allclose(found, wanted.logits[0], atol=1e-3)
    assert len(worst) == LAYERS
    assert max(worst.values()) < 1e-4
    seen = wanted.attentions[0][0, :, -1, : max(0, len(ids) - WINDOW)]
    assert float(seen.sum()) == 0


@torch.no_grad()
def test_it_knows_a_capital(model: HeadModel) -> None:
    ids = model.tokenizer.encode(CAPITALS)
    best = model.logits_at(torch.tensor([ids]), torch.tensor([[0, len(ids) - 1]])).argmax()
    assert model.tokenizer.decode_bytes(int(best)) == b" Paris"


def test_gates_reach_every_layer(model: HeadModel) -> None:
    ids = model.tokenizer.encode("one two three one two")
    gates = torch.ones(LAYERS, HEADS, requires_grad=True)
    with model.gated(gates):
        model.logits_at(torch.tensor([ids]), torch.tensor([[0, len(ids) - 1]])).logsumexp(-1).sum().backward()
    assert gates.grad is not None
    assert (gates.grad.abs().amax(-1) > 0).all()


def test_attribution_sums_to_the_logit(model: HeadModel) -> None:
    found = attribute(model, model.tokenizer.encode(PROMPT))
    assert found.total == pytest.approx(found.logit, abs=1e-2)
