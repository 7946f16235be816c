"""Skip trigrams as an analysis."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from analyses.circuit_runs import run, two_layer
from figures.circuit_samples import skip_trigrams as sample
from headscope.analyses import ANALYSES, figures
from headscope.analyses.base import Spec
from headscope.analyses.in_place import compute
from headscope.analyses.skip_trigrams.result import QUANTITIES, SkipTrigramsResult
from headscope.analyses.skip_trigrams.schema import SkipTrigramsParams
from headscope.core.arrays import decode
from headscope.core.model.head_model import HeadModel
from headscope.core.model.info import ModelInfo
from headscope.errors import Cancelled, Invalid, NotFound
from services.results import changed

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


def made_up() -> SkipTrigramsResult:
    found = sample()
    assert isinstance(found, SkipTrigramsResult)
    return found


def test_the_table_of_crossed_pairs_has_those_there_are() -> None:
    table = figures.table(made_up(), "crossed", head="1.0")
    names = [column["name"] for column in table["columns"]]
    (row,) = (dict(zip(names, row, strict=True)) for row in table["rows"])
    assert [row[name] for name in names[:5]] == [" keep", "\n", "<b>", "0xff", "\n"]
    assert [row[name] for name in ("b1c1", "b2c2", "b1c2", "b2c1", "margin")] == [8, 15, 10, 12, 3]
    assert {column["name"]: column["unit"] for column in table["columns"]}["margin"] == "nats"
    (empty,) = figures.table(made_up(), "crossed", head="0.1")["rows"]
    assert empty == [""] * 5 + [None] * 5


def test_crossed_pairs_are_drawn_by_their_weaker_one_or_said_to_be_none() -> None:
    figure = figures.build(made_up(), "crossed", head="1.0")
    assert decode(figure["data"][0]["x"]).tolist() == [10]
    none = figures.build(made_up(), "crossed", head="0.1")
    assert "Head 0.1 has no crossed pairs" in none["layout"]["meta"]["reading"]
    assert SKIP.headline(made_up()) == {
        "heads": 2, "worst_crossed_head": "1.0", "worst_crossed_score": 10.0,
    }  # fmt: skip


def test_no_head_is_named_where_none_has_a_crossed_pair() -> None:
    found = made_up()
    nothing = np.full_like(found.crossed_scores, np.nan)
    none = changed(found, arrays={**found.arrays, "crossed_scores": nothing})
    assert isinstance(none, SkipTrigramsResult)
    assert SKIP.headline(none) == {"heads": 2, "worst_crossed_head": None, "worst_crossed_score": None}


def test_without_a_head_the_strongest_trigrams_is_shown() -> None:
    figure = figures.build(made_up(), "trigrams")
    assert figure["layout"]["meta"]["head"] == [1, 0]
    assert decode(figure["data"][0]["x"]).tolist() == [9, 2, 1]
    table = figures.table(made_up(), "trigrams")
    assert [row[-1] for row in table["rows"]] == [9, 2, 1]
    assert [row[1] for row in table["rows"]] == ["0xff", "\n", " keep"]


def test_no_markup_of_a_token_reaches_a_label() -> None:
    for name in figures.names("skip-trigrams"):
        assert "<b>" not in str([trace.get("y") for trace in figures.build(made_up(), name)["data"]])


def test_bigrams_are_logits_above_the_tokens_mean(model: HeadModel, result: SkipTrigramsResult) -> None:
    from headscope.core.circuits.weights import read_weights

    weights = read_weights(model, dtype=torch.float64)
    # the final norm centres a token and divides by its size; its weights are folded into what reads it
    centred = weights.W_E - weights.W_E.mean(dim=1, keepdim=True)
    size = centred.var(dim=1, correction=0, keepdim=True).add(1e-5).sqrt()
    direct = centred / size @ weights.W_U
    direct = direct - direct.mean(dim=1, keepdim=True)
    places = result.bigram_rows.tolist(), result.bigram_columns.tolist()
    np.testing.assert_allclose(result.bigram_values, direct[places].numpy(), rtol=1e-3)
    assert result.bigram_values[0] == pytest.approx(float(direct.max()), rel=1e-3)
    assert (np.diff(result.bigram_values) <= 0).all()


def test_the_best_tokens_of_a_source_come_first(result: SkipTrigramsResult) -> None:
    assert (np.diff(result.q, axis=2) <= 1e-6).all()
    assert (np.diff(result.o, axis=2) <= 1e-6).all()
    np.testing.assert_allclose(result.scores, result.q[..., 0] * result.o[..., 0], rtol=1e-4)


def test_skip_trigrams_stop_at_a_checkpoint(model: HeadModel) -> None:
    def checkpoint() -> None:
        raise Cancelled("Stopped.", "Start it again.")

    with pytest.raises(Cancelled):
        compute(SKIP, Spec(SkipTrigramsParams(heads="0.0"), model.info), model, checkpoint=checkpoint)
