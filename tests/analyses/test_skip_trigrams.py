"""Skip trigrams as an analysis."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from analyses.circuit_runs import run, two_layer
from headscope.analyses import ANALYSES, figures
from headscope.analyses.base import Spec
from headscope.analyses.skip_trigrams.result import QUANTITIES, SkipTrigramsResult
from headscope.analyses.skip_trigrams.schema import SkipTrigramsParams
from headscope.core.model.head_model import HeadModel
from headscope.core.model.info import ModelInfo
from headscope.errors import Invalid, NotFound

SKIP = ANALYSES["skip-trigrams"]


def skip_trigrams(model: HeadModel, **params: Any) -> SkipTrigramsResult:
    result = run("skip-trigrams", model, **params)
    assert isinstance(result, SkipTrigramsResult)
    return result


def keys(info: ModelInfo, heads: str | None = None) -> list[str]:
    return [piece.key for piece in SKIP.plan(Spec(SkipTrigramsParams(heads=heads), info))]


@pytest.fixture(scope="module")
def model() -> HeadModel:
    return two_layer()


@pytest.fixture(scope="module")
def result(model: HeadModel) -> SkipTrigramsResult:
    return skip_trigrams(model, heads="1.5, 0.7", count=10, near=4)


def test_scores_are_products_of_what_the_weights_say(model: HeadModel, result: SkipTrigramsResult) -> None:
    from headscope.core.circuits.weights import read_weights

    assert result.heads.tolist() == [[1, 5], [0, 7]]
    weights = read_weights(model, dtype=torch.float64)
    part = weights.layer(1)
    qk = weights.W_E @ part.W_Q[5] @ part.W_K[5].T @ weights.W_E.T / 32**0.5
    ov = weights.W_E @ part.W_V[5] @ part.W_O[5] @ weights.W_U
    a, b, c = result.sources[0, 0], result.destinations[0, 0, 0], result.outputs[0, 0, 0]
    wanted = (qk[b, a] - qk[b].mean()) * (ov[a, c] - ov[a].mean())
    assert float(result.scores[0, 0]) == pytest.approx(float(wanted), rel=1e-4)
    assert (np.diff(result.scores, axis=1) <= 0).all()


def test_every_id_has_its_text(model: HeadModel, result: SkipTrigramsResult) -> None:
    known = {token: bytes.fromhex(hexed) for token, _, hexed in result.tokens}
    for ids in (
        result.sources, result.destinations, result.outputs, result.bigram_rows, result.bigram_columns
    ):  # fmt: skip
        for token in np.unique(ids).tolist():
            assert known[token] == model.tokenizer.decode_bytes(token)


def test_crossed_pairs_are_of_the_same_two_factors(result: SkipTrigramsResult) -> None:
    scores = result.crossed_scores
    known = np.isfinite(scores).all(-1)
    assert known.any()
    b1c1, b2c2, b1c2, b2c1 = np.moveaxis(scores[known], -1, 0)
    np.testing.assert_allclose(b1c1 * b2c2, b1c2 * b2c1, rtol=1e-3)
    assert (result.crossed_margin[known] > 0).all()


def test_figures_are_of_the_head_asked_for(result: SkipTrigramsResult) -> None:
    meta = figures.build(result, "trigrams", head="0.7")["layout"]["meta"]
    assert meta["head"] == [0, 7]
    assert meta["looked_at"] == result.heads.tolist(), "a page asks for no head but these"
    with pytest.raises(NotFound, match=r"head 0\.1") as refused:
        figures.build(result, "trigrams", head="0.1")
    assert refused.value.code == "head-not-computed"


def test_which_heads_are_looked_at(model: HeadModel) -> None:
    assert len(keys(model.info)) == 1 + 16
    large = replace(model.info, n_layers=30, n_heads=9)
    assert keys(large)[1:] == [f"0.{head}" for head in range(9)]
    for words in ("2.0", "0.8", "a", "1.5;1.2"):
        with pytest.raises(Invalid, match="no head") as refused:
            keys(model.info, words)
        assert refused.value.code == "no-head"
    assert keys(model.info, "1.5,1.5") == ["bigrams", "1.5"]


def test_the_headline_is_of_the_strongest_crossed_pair(result: SkipTrigramsResult) -> None:
    headline = SKIP.headline(result)
    assert set(headline) == set(QUANTITIES)
    weaker = {
        head: max(float(scores[2:].min()) for scores in rows[np.isfinite(rows).all(-1)])
        for head, rows in zip(("1.5", "0.7"), result.crossed_scores, strict=True)
    }
    assert headline["heads"] == 2
    assert headline["worst_crossed_head"] == max(weaker, key=lambda head: weaker[head])
    assert headline["worst_crossed_score"] == max(weaker.values())


def test_part_of_the_vocabulary_is_said(model: HeadModel) -> None:
    part = skip_trigrams(model, heads="0.0", vocabulary=100)
    assert part.vocabulary == 100
    assert any("first 100 of 512" in note for note in part.notes)
    assert part.sources.max() < 100
