"""Skip trigrams as an analysis."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from analyses.circuit_runs import run, two_layer
from headscope.analyses import ANALYSES, figures
from headscope.analyses.base import Result
from headscope.core.model.head_model import HeadModel
from headscope.errors import Invalid, NotFound

SKIP: Any = ANALYSES["skip-trigrams"]


@pytest.fixture(scope="module")
def model() -> HeadModel:
    return two_layer()


@pytest.fixture(scope="module")
def result(model: HeadModel) -> Result:
    return run("skip-trigrams", model, heads="1.5, 0.7", count=10, near=4)


def test_scores_are_products_of_what_the_weights_say(model: HeadModel, result: Result) -> None:
    from headscope.core.circuits.weights import read_weights

    assert result.arrays["heads"].tolist() == [[1, 5], [0, 7]]
    weights = read_weights(model, dtype=torch.float64)
    part = weights.layer(1)
    qk = weights.W_E @ part.W_Q[5] @ part.W_K[5].T @ weights.W_E.T / 32**0.5
    ov = weights.W_E @ part.W_V[5] @ part.W_O[5] @ weights.W_U
    a, b, c = (int(result.arrays[name][0, 0].flat[0]) for name in ("sources", "destinations", "outputs"))
    wanted = (qk[b, a] - qk[b].mean()) * (ov[a, c] - ov[a].mean())
    assert float(result.arrays["scores"][0, 0]) == pytest.approx(float(wanted), rel=1e-4)
    assert (np.diff(result.arrays["scores"], axis=1) <= 0).all()


def test_every_id_has_its_text(model: HeadModel, result: Result) -> None:
    known = {token: bytes.fromhex(hexed) for token, _, hexed in result.values["tokens"]}
    for name in ("sources", "destinations", "outputs", "bigram_rows", "bigram_columns"):
        for token in np.unique(result.arrays[name]).tolist():
            assert known[token] == model.tokenizer.decode_bytes(token)


def test_crossed_pairs_are_of_the_same_two_factors(result: Result) -> None:
    scores = result.arrays["crossed_scores"]
    known = np.isfinite(scores).all(-1)
    assert known.any()
    b1c1, b2c2, b1c2, b2c1 = np.moveaxis(scores[known], -1, 0)
    np.testing.assert_allclose(b1c1 * b2c2, b1c2 * b2c1, rtol=1e-3)
    assert (result.arrays["crossed_margin"][known] > 0).all()


def test_figures_are_of_the_head_asked_for(result: Result) -> None:
    meta = figures.build(result, "trigrams", head="0.7")["layout"]["meta"]
    assert meta["head"] == [0, 7]
    assert meta["looked_at"] == result.arrays["heads"].tolist(), "a page asks for no head but these"
    with pytest.raises(NotFound, match=r"head 0\.1") as refused:
        figures.build(result, "trigrams", head="0.1")
    assert refused.value.code == "head-not-computed"


def test_which_heads_are_looked_at(model: HeadModel) -> None:
    heads = [piece.key for piece in SKIP.plan(SKIP.params(), model.info)]
    assert len(heads) == 1 + 16
    large = replace(model.info, n_layers=30, n_heads=9)
    assert [piece.key for piece in SKIP.plan(SKIP.params(), large)][1:] == [f"0.{head}" for head in range(9)]
    for words in ("2.0", "0.8", "a", "1.5;1.2"):
        with pytest.raises(Invalid, match="no head"):
            SKIP.plan(SKIP.params.model_validate({"heads": words}), model.info)
    twice = SKIP.params.model_validate({"heads": "1.5,1.5"})
    assert [piece.key for piece in SKIP.plan(twice, model.info)] == ["bigrams", "1.5"]


def test_part_of_the_vocabulary_is_said(model: HeadModel) -> None:
    part = run("skip-trigrams", model, heads="0.0", vocabulary=100)
    assert part.values["vocabulary"] == 100
    assert any("first 100 of 512" in note for note in part.values["notes"])
    assert part.arrays["sources"].max() < 100
