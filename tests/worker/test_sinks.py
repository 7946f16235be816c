"""A learned sink takes part of each row (gpt-oss): the lab shows its share, and no token gets it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from headscope.core.arrays import decode
from headscope.core.model.head_model import HeadModel
from headscope.core.model.load import load_model
from headscope.core.patterns.reading import look
from headscope.messages import PatternsIn, TypedArray
from headscope.messages.lab import LabIn
from headscope.worker.lab import patterns
from headscope.worker.lab.prompt import read
from models.families import FAMILIES, save

TEXT = "the cat sat on the mat, the cat sat"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (family,) = (family for family in FAMILIES if family.name == "gpt-oss")
    return save(family, tmp_path_factory.mktemp("sinks"))


@pytest.fixture(scope="module")
def model(folder: Path) -> HeadModel:
    return load_model(folder, name="tiny", device="cpu")


def array(value: TypedArray | None) -> np.ndarray:
    assert value is not None
    return decode(value)


def plain_sinks(folder: Path, ids: list[int]) -> np.ndarray:
    """What transformers' own patterns leave of each row, [layer, head, query]."""
    plain = transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.no_grad():
        shown = plain(torch.tensor([ids]), output_attentions=True).attentions
    return 1 - np.stack([pattern[0].sum(-1).numpy() for pattern in shown])


def test_patterns_and_sinks_are_whole(model: HeadModel, folder: Path) -> None:
    prompt = read(model, LabIn(model="tiny", text=TEXT))
    expected = plain_sinks(folder, prompt.ids)
    assert expected.max() > 0.1
    answer = patterns.plan(model, prompt, PatternsIn(model="tiny", text=TEXT)).run()
    np.testing.assert_allclose(array(answer.sinks), expected, atol=1e-5)
    np.testing.assert_allclose(array(answer.patterns).sum(-1) + array(answer.sinks), 1, atol=1e-5)
    weighted = patterns.plan(model, prompt, PatternsIn(model="tiny", text=TEXT, weighted=True)).run()
    assert weighted.sinks is None
    np.testing.assert_allclose(array(weighted.patterns).sum(-1), 1, atol=1e-5)


def test_the_rest_of_a_long_prompts_rows_is_what_tokens_get(
    model: HeadModel, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "MOST_TRIANGLE_BYTES", 10)
    monkeypatch.setattr(patterns, "TOP_KEYS", 3)
    prompt = read(model, LabIn(model="tiny", text=TEXT))
    answer = patterns.plan(model, prompt, PatternsIn(model="tiny", text=TEXT, compact=True)).run()
    assert answer.top is not None
    given = ((array(answer.top.weights) / 255.0) ** 2).sum(-1) + array(answer.top.rest)
    np.testing.assert_allclose(given + plain_sinks(folder, prompt.ids), 1, atol=0.02)


def test_the_look_has_the_share_of_each_query(model: HeadModel, folder: Path) -> None:
    prompt = read(model, LabIn(model="tiny", text=TEXT))
    thumbs = look(model, prompt.ids, [[] for _ in prompt.ids]).thumbs
    assert thumbs is not None
    assert thumbs.sinks is not None
    shares = (thumbs.sinks / 255.0) ** 2
    np.testing.assert_allclose(shares, plain_sinks(folder, prompt.ids), atol=5e-3)
