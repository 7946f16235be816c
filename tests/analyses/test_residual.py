"""The residual stream as an analysis."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from analyses.circuit_runs import run, two_layer
from core.circuits.conftest import load, save
from figures.circuit_samples import residual as sample
from headscope.analyses import ANALYSES, figures
from headscope.analyses.base import Spec
from headscope.analyses.residual.result import QUANTITIES, ResidualResult
from headscope.analyses.residual.schema import ResidualParams
from headscope.core.arrays import decode
from headscope.core.circuits.weights import read_weights
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


def made_up() -> ResidualResult:
    found = sample()
    assert isinstance(found, ResidualResult)
    return found


def test_shares_are_norms_of_what_is_read_worked_by_hand(model: HeadModel) -> None:
    """|W_OV W_QK| / (|W_OV| |W_QK|), as composition has it."""
    raw = residual(model, weight_processing="raw", dtype="float64")
    weights = read_weights(model, "raw", torch.float64)
    first, second = weights.layer(0), weights.layer(1)
    for writer, reader in ((3, 5), (6, 2)):
        w_o = first.W_V[writer] @ first.W_O[writer]
        column = list(raw.readers).index(f"1.{reader} k")
        row = list(raw.writers).index(f"0.{writer}")
        w_k = second.W_K[reader] @ second.W_Q[reader].T
        share = float((w_o @ w_k).norm() / w_o.norm() / w_k.norm())
        assert float(raw.shares[row, column]) == pytest.approx(share, rel=1e-4)


def test_nobody_reads_what_is_written_later(result: ResidualResult) -> None:
    for row, writer in enumerate(result.writers):
        for column, reader in enumerate(result.readers):
            known = bool(np.isfinite(result.shares[row, column]))
            if writer[0].isdigit() and reader[0].isdigit():
                assert known == (int(writer.split(".")[0]) < int(reader.split(".")[0])), (writer, reader)
            else:
                assert known, (writer, reader)
    known = result.shares[np.isfinite(result.shares)]
    assert (known >= 0).all()
    assert (known <= 1 + 1e-6).all()


def test_the_strongest_reader_of_each_writer() -> None:
    found = made_up()
    rows = figures.table(found, "written")["rows"]
    shares = np.where(np.isfinite(found.shares), found.shares, -1)
    assert [row[0] for row in rows] == list(found.writers)
    for place, (_, norm, reader, share) in enumerate(rows):
        assert norm == pytest.approx(float(found.written[place]), rel=1e-6)
        assert reader == found.readers[int(shares[place].argmax())]
        assert share == pytest.approx(float(shares[place].max()), rel=1e-6)


def test_the_headline_of_the_residual_stream_by_hand() -> None:
    found = made_up()
    numbers = RESIDUAL.headline(found)
    assert (numbers["most_erasing_head"], numbers["most_erasing_score"]) == ("1.3", pytest.approx(0.9))
    assert numbers["clearing_neurons"] == sum(value < -0.5 for value in found.cosine.reshape(-1).tolist())
    assert numbers["stream_grows_by"] == pytest.approx(found.stream[2].mean() / found.stream[0].mean())
    unknown = found.erasing.copy()
    unknown[1, 3] = np.nan
    assert RESIDUAL.headline(replace(found, erasing=unknown))["most_erasing_head"] != "1.3"


def test_neurons_are_listed_from_the_one_that_clears_most() -> None:
    found = made_up()
    rows = figures.table(found, "neurons")["rows"]
    assert len(rows) == found.cosine.size
    values = [row[2] for row in rows]
    assert values == sorted(values)
    assert all(found.cosine[layer, neuron] == pytest.approx(value) for layer, neuron, value in rows)


def test_norms_are_means_over_the_prompt_and_what_the_lines_show() -> None:
    found = made_up()
    rows = figures.table(found, "norms")["rows"]
    assert [row[0] for row in rows] == [0, 1, 2]
    np.testing.assert_allclose([row[1] for row in rows], found.stream.mean(axis=1), rtol=1e-6)
    assert rows[-1][2:] == [None, None], "behind the last layer nothing is added"
    lines = figures.build(found, "norms")["data"]
    for line, column in zip(lines, (1, 2, 3), strict=True):
        shown = decode(line["y"])
        np.testing.assert_allclose(shown, [row[column] for row in rows[: len(shown)]], rtol=1e-5)
    without = replace(found, mlp=np.full_like(found.mlp, np.nan))
    assert len(figures.build(without, "norms")["data"]) == 2


def test_attention_to_the_present_token_is_the_patterns_own(model: HeadModel, result: ResidualResult) -> None:
    ids = model.tokenizer.encode(ResidualParams().text)
    seen: dict[int, torch.Tensor] = {}

    def visit(layer: int, pattern: torch.Tensor, _: torch.Tensor | None) -> None:
        seen[layer] = pattern[0]

    with torch.no_grad(), model.reading(visit):
        model.losses(torch.tensor([ids]))
    for layer, pattern in seen.items():
        own = [[float(head[q, q]) for q in range(1, len(ids))] for head in pattern]
        np.testing.assert_allclose(result.current[layer], np.mean(own, axis=1), rtol=1e-4)
