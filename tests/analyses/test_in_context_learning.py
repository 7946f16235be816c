"""The in-context-learning score: known where it is planted, none where nothing reads the context."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from analyses.specs import cut_small
from figures.pattern_samples import induction as induction_sample
from headscope.analyses.base import Context, Kept, Progress, Spec
from headscope.analyses.in_context_learning import IN_CONTEXT_LEARNING
from headscope.analyses.in_context_learning.result import InContextLearningResult, headline, interval
from headscope.analyses.in_context_learning.schema import InContextLearningParams, closed_heads
from headscope.analyses.in_context_learning.texts import beginnings, shipped
from headscope.analyses.induction.result import InductionResult
from headscope.analyses.references import Input
from headscope.core.statistics.intervals import bootstrap_interval
from headscope.errors import Cancelled, Invalid
from headscope.tasks.prompts import PromptSet, prompt_set
from headscope.validation.planted import Plan, build
from micro.model import MicroModel, random_model
from micro.words import word_tokenizer

VOCAB, PERIOD = 302, 300
DOCUMENTS = 20


def run(
    model: MicroModel,
    prompts: PromptSet,
    inputs: Mapping[str, Input] | None = None,
    *,
    context: Mapping[str, Any] | None = None,
    **params: Any,
) -> InContextLearningResult:
    """The result after a trip through JSON, as it is stored."""
    asked = InContextLearningParams(prompts=prompts.id, **params)
    spec, done = Spec(asked, model.info, None, {"prompts": prompts, **(inputs or {})}), dict[str, Kept]()
    for piece in IN_CONTEXT_LEARNING.plan(spec):
        needed = {key: done[key] for key in piece.needs}
        done[piece.key] = piece.compute(Context(model, needed, **(context or {})))
    found = IN_CONTEXT_LEARNING.assemble(spec, done)
    return InContextLearningResult.from_json(json.loads(json.dumps(found.to_json())))


def text(ids: Any) -> str:
    return " ".join(f"w{token}" for token in ids)


@cache
def planted() -> MicroModel:
    """0.0 writes the token before, 1.0 looks for its own token among them; 0.1 and 1.1 do nothing."""
    made = build(
        Plan(
            n_layers=2, n_heads=2, groups=2, vocab=VOCAB, n_ctx=512, d_model=3 * VOCAB + 512,
            match=15.0, favoured=0.0, kinds={(0, 0): "previous", (1, 0): "induction"},
        )
    )  # fmt: skip
    W_E, W_pos, W_Q, W_K, W_V, W_O, W_U = (
        each.float() for each in (made.W_E, made.W_pos, made.W_Q, made.W_K, made.W_V, made.W_O, made.W_U)
    )
    model = MicroModel(W_E, W_pos, W_Q, W_K, W_V, W_O, W_U)
    model.tokenizer = word_tokenizer(VOCAB, VOCAB - 1)
    return model


@cache
def repeated() -> PromptSet:
    """300 different words, then the same: position 50 is new, position 500 has come before."""
    draw = np.random.default_rng(0)
    once = [1 + draw.permutation(PERIOD) for _ in range(DOCUMENTS)]
    return prompt_set([text([*words, *words]) for words in once])


def unigram() -> MicroModel:
    """Predicts each token alike whatever came before, some tokens more than others."""
    model = random_model(layers=1, heads=2, vocab=20, context=512, dtype=torch.float32)
    model.W_E, model.W_O = torch.zeros_like(model.W_E), torch.zeros_like(model.W_O)
    model.W_pos = model.W_pos[:1].expand(512, -1)
    model.tokenizer = word_tokenizer(20, 19)
    return model


def drawn(seed: int, documents: int = 30, words: int = 520) -> PromptSet:
    draw = np.random.default_rng(seed)
    return prompt_set([text(draw.integers(1, 19, words)) for _ in range(documents)])


def test_a_planted_induction_models_score_is_lost_with_either_of_its_heads_and_no_other() -> None:
    result = run(planted(), repeated(), heads="0.0, 0.1, 1.0, 1.1")
    assert result.closed_heads.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    low, high = interval(result.scores)
    assert low < result.scores.mean() < high < -3
    without = result.scores.mean() + result.changes.mean(axis=1)
    assert abs(without[0]) < 0.3
    assert abs(without[2]) < 0.3
    np.testing.assert_array_equal(result.changes[[1, 3]], 0)
    np.testing.assert_allclose(result.smoothed_changes[[1, 3]], 0, atol=1e-5)
    assert np.abs(result.smoothed + result.smoothed_changes[2]).mean() < 0.3
    assert headline(result)["head"] in ("0.0", "1.0")


def test_losses_and_scores_are_a_plain_log_softmax_of_the_logits() -> None:
    model, prompts = random_model(vocab=20, context=512), drawn(0, 20)
    model.tokenizer = word_tokenizer(20, 19)
    result = run(model, prompts, heads="1.2", window=5)

    def losses() -> np.ndarray:
        rows = []
        for each in prompts.texts:
            ids = torch.tensor([[19, *(int(word[1:]) for word in each.split())][:512]])
            log = model.logits(ids)[0].double().log_softmax(-1)
            rows.append([np.nan] + [-float(log[at, ids[0, at + 1]]) for at in range(511)])
        return np.array(rows)

    plain = losses()
    np.testing.assert_allclose(result.loss, plain, rtol=1e-5)
    np.testing.assert_allclose(result.scores, plain[:, 500] - plain[:, 50], atol=1e-4)
    around = plain[:, 495:506].mean(1) - plain[:, 45:56].mean(1)
    np.testing.assert_allclose(result.smoothed, around, atol=1e-4)
    gates = torch.ones(2, 3)
    gates[1, 2] = 0
    with model.gated(gates):
        closed = losses()
    change = (closed - plain)[:, 500] - (closed - plain)[:, 50]
    assert np.abs(change).mean() > 0.1
    np.testing.assert_allclose(result.changes[0], change, atol=1e-4)
    early = (closed - plain)[:, 45:56].mean(1)
    np.testing.assert_allclose(result.early_rises[0], early, atol=1e-4)


def test_a_model_that_reads_no_context_has_no_score() -> None:
    """Of twenty draws of documents, about nineteen have an interval around 0."""
    model, covered = unigram(), 0
    for seed in range(20):
        result = run(model, drawn(seed))
        both = [interval(values) for values in (result.scores, result.smoothed)]
        covered += sum(low <= 0 <= high for low, high in both)
        assert not len(result.closed_heads)
        assert "head" not in headline(result)
    assert 34 <= covered <= 40


def test_intervals_cover_the_mean_as_often_as_they_say() -> None:
    draw = np.random.default_rng(0)
    low, high = bootstrap_interval(draw.normal(1, 2, (1000, 64)))
    assert 0.92 < np.mean((low <= 1) & (high >= 1)) < 0.97


def test_it_is_the_same_however_it_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_model(vocab=20, context=512)
    model.tokenizer = word_tokenizer(20, 19)
    whole = run(model, drawn(0, 21), heads="0.1, 1.2")
    cut_small(monkeypatch)
    cut = run(model, drawn(0, 21), heads="0.1, 1.2")
    for name, array in whole.arrays.items():
        np.testing.assert_allclose(cut.arrays[name], array, rtol=1e-5, err_msg=name)


def test_short_documents_are_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_small(monkeypatch)
    texts = list(drawn(0, 22).texts)
    texts[3] = texts[7] = "w1 w2"
    texts[9] = text([1] * 510)  # 511 tokens with BOS
    texts[10] = text([1] * 511)
    prompts = prompt_set([*texts, *drawn(1, 4).texts])
    result = run(unigram(), prompts, heads="0.0")
    assert result.documents.tolist() == [n for n in range(26) if n not in (3, 7, 9)]
    assert result.n_short == 3
    assert result.closed_at.shape == (1, 23, 2)
    assert np.isfinite(result.closed_at).all()
    assert any("3 documents are shorter" in note for note in result.notes)
    assert any("23 documents: the score wants 50" in note for note in result.notes)
    few = run(unigram(), prompts, documents=20)
    assert len(few.documents) == 20


def test_too_few_documents_are_refused_before_and_while_a_run_is_computed() -> None:
    model, prompts = unigram(), drawn(0, 19)
    with pytest.raises(Invalid) as refused:
        run(model, prompts)
    assert refused.value.code == "too-few-documents"
    assert refused.value.remedy
    spec = Spec(InContextLearningParams(prompts=prompts.id), model.info, None, {"prompts": prompts})
    with pytest.raises(Invalid, match="19 of 19 documents"):
        IN_CONTEXT_LEARNING.estimate(spec, tokenizer=model.tokenizer)


def test_an_induction_run_gives_its_heads_by_prefix_matching_the_strongest_first() -> None:
    run_of = induction_sample()
    assert isinstance(run_of, InductionResult)
    prefix = np.zeros_like(run_of.prefix)
    prefix[:, 1, 3], prefix[:, 0, 2] = 0.9, 0.5
    info = replace(random_model(context=512).info, n_heads=4, n_kv_heads=4)
    inputs = {"induction": replace(run_of, prefix=prefix)}
    spec = Spec(InContextLearningParams(induction="0" * 20, strongest=2), info, None, inputs)
    assert closed_heads(spec) == [(1, 3), (0, 2)]
    named = replace(spec, params=InContextLearningParams(induction="0" * 20, heads="0.1"))
    assert closed_heads(named) == [(0, 1)]
    every = replace(spec, params=InContextLearningParams(induction="0" * 20, strongest=64))
    assert len(closed_heads(every)) == 8
    assert closed_heads(replace(spec, inputs={})) == []
    with pytest.raises(Invalid) as refused:
        closed_heads(replace(spec, inputs={"induction": run(unigram(), drawn(0, 20))}))
    assert refused.value.code == "other-analysis"


def test_the_shipped_texts_are_64_different_ones_long_enough_for_any_tokenizer_of_words() -> None:
    texts = shipped()
    assert len(set(texts)) == 64
    speeches = [speech for each in texts for speech in each.split("\n\n") if len(speech) > 200]
    assert len(set(speeches)) == len(speeches)
    assert min(len(each.split()) for each in texts) > 590


def test_no_more_texts_are_read_than_are_wanted() -> None:
    told: list[None] = []
    read = beginnings(word_tokenizer(20, 19), drawn(0, 40).texts, 25, lambda: told.append(None))
    assert read.tokens.shape == (25, 512)
    assert len(told) == 25


def test_progress_is_told_and_a_run_can_be_cancelled() -> None:
    told: list[Progress] = []
    run(unigram(), drawn(0, 20), heads="0.0, 0.1", context={"report": told.append})
    assert [progress.fraction for progress in told] == [0.5, 1.0]

    def cancel() -> None:
        raise Cancelled("Stopped.", "Ask again.")

    with pytest.raises(Cancelled):
        run(unigram(), drawn(0, 20), context={"checkpoint": cancel})
