"""The residual stream as an analysis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from analyses.circuit_runs import run, two_layer
from core.circuits.conftest import load, save
from headscope.analyses import ANALYSES, figures
from headscope.analyses.base import Spec
from headscope.analyses.residual.result import QUANTITIES, ResidualResult
from headscope.analyses.residual.schema import ResidualParams
from headscope.core.model.head_model import HeadModel
from headscope.errors import Invalid

RESIDUAL = ANALYSES["residual"]


def residual(model: HeadModel, **params: Any) -> ResidualResult:
    result = run("residual", model, **params)
    assert isinstance(result, ResidualResult)
    return result


@pytest.fixture(scope="module")
def model() -> HeadModel:
    return two_layer()


@pytest.fixture(scope="module")
def result(model: HeadModel) -> ResidualResult:
    return residual(model)


def test_the_induction_circuit_is_the_strongest_reading(result: ResidualResult) -> None:
    rows = figures.table(result, "reads")["rows"]
    assert rows[0][:2] == ["0.3", "1.5 k"]
    assert rows[0][2] > 2 * rows[0][3]
    mine = figures.table(result, "reads", head="1.2")["rows"]
    assert mine[0][:2] == ["0.3", "1.2 k"]
    assert all("1.2" in row[0] or row[1].startswith("1.2 ") for row in mine)


def test_names_and_arrays_belong_together(result: ResidualResult) -> None:
    shape = (len(result.writers), len(result.readers))
    assert result.shares.shape == shape == (2 + 16, 48 + 1)
    assert result.stream.shape[0] == 3
    assert result.cosine.size == 0


def test_the_headline_names_the_head_that_clears_most(result: ResidualResult) -> None:
    headline = RESIDUAL.headline(result)
    assert set(headline) == set(QUANTITIES)
    rows = figures.table(result, "memory")["rows"]
    layer, head, *_, score, _ = max(rows, key=lambda row: row[3])
    assert headline["most_erasing_head"] == f"{layer}.{head}"
    assert headline["most_erasing_score"] == pytest.approx(score, rel=1e-5)
    assert headline["clearing_neurons"] == 0, "the model has no neurons"


def test_attention_to_the_present_token_is_the_patterns(model: HeadModel, result: ResidualResult) -> None:
    ids = torch.tensor([model.tokenizer.encode(result.params["text"])])
    with torch.no_grad(), model.captured((1,), ("pattern",)) as found:
        model.logits(ids)
    diagonal = found["1.pattern"][0].diagonal(dim1=-2, dim2=-1)[:, 1:].mean(-1)
    np.testing.assert_allclose(result.current[1], diagonal, rtol=1e-5)


def test_neurons_of_a_model_that_has_them(tmp_path_factory: pytest.TempPathFactory) -> None:
    found = residual(load(save("llama", tmp_path_factory.mktemp("llama"))), text="w3 w4 w5")
    rows = figures.table(found, "neurons")["rows"]
    assert len(rows) == 3 * 20
    assert rows[0][2] == pytest.approx(float(found.cosine.min()), rel=1e-5)
    counts = figures.build(found, "neurons")["data"][0]
    assert "z" in counts
    assert "mlp 2" in found.writers


def test_prompts_too_short_or_long_are_refused(
    model: HeadModel, tmp_path_factory: pytest.TempPathFactory
) -> None:
    tiny = load(save("llama", tmp_path_factory.mktemp("llama-short")))
    for one, text, code in ((tiny, "w3", "too-short"), (model, "word " * 400, "too-long")):
        spec = Spec(ResidualParams(text=text), one.info)
        with pytest.raises(Invalid) as refused:
            RESIDUAL.estimate(spec, tokenizer=one.tokenizer)
        assert refused.value.code == code
