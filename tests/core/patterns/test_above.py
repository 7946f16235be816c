"""Scores above the columns' level: against loops, on planted heads, and on heads that look at one column."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core import reference
from headscope.core.model.tokens import Token
from headscope.core.patterns.above import targets
from headscope.core.patterns.reading import look
from headscope.core.patterns.repeat_scores import repeat_scores
from headscope.core.patterns.repeats import copies
from headscope.core.patterns.repetition import Repetition
from headscope.core.patterns.scores import CLAIMS, claims
from headscope.core.statistics.intervals import bootstrap_interval
from headscope.validation.planted import build
from micro import planted
from micro.model import MicroModel
from micro.planted import VOCAB
from micro.words import word_tokenizer

CLEAR, FAINT, NONE, TOO_FEW = (CLAIMS.index(word) for word in ("clear", "faint", "none", "too few"))


def before(ids: list[int]) -> list[list[int]]:
    return copies([Token(i, 0, 1, b"x", i == 0) for i in ids])


def causal(heads: int, length: int, seed: int) -> torch.Tensor:
    """Random patterns whose rows sum to 1."""
    weights = torch.rand(heads, length, length, generator=torch.Generator().manual_seed(seed)).tril()
    return weights / weights.sum(-1, keepdim=True)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=14), st.integers(0, 99))
def test_every_querys_excess_is_that_of_loops(ids: list[int], seed: int) -> None:
    pattern = causal(3, len(ids), seed)
    where = Repetition.of(before(ids), torch.device("cpu"))
    for place, each in enumerate(targets(where)):
        excess = each.excess(pattern)
        assert excess.shape == (3, each.n_queries)
        for head in range(3):
            wanted = reference.excess(pattern[head].double().numpy(), ids)[place]
            np.testing.assert_allclose(excess[head], wanted, atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=3, max_size=14), st.integers(0, 99))
def test_columns_that_every_query_looks_at_alike_score_nothing(ids: list[int], seed: int) -> None:
    columns = torch.rand(len(ids), generator=torch.Generator().manual_seed(seed))
    pattern = columns.expand(1, len(ids), -1).tril()
    for each in targets(Repetition.of(before(ids), torch.device("cpu"))):
        torch.testing.assert_close(each.excess(pattern), torch.zeros(1, each.n_queries), atol=1e-5, rtol=0)


def test_heads_that_do_it_score_one() -> None:
    n = 12
    ids = [*range(1, n + 1)] * 2
    pattern = torch.zeros(3, 2 * n, 2 * n)
    for i in range(2 * n):
        pattern[0, i, i - n + 1 if i >= n else 0] = 1
        pattern[1, i, i - n if i >= n else i] = 1
        pattern[2, i, max(i - 1, 0)] = 1
    found = [each.excess(pattern) for each in targets(Repetition.of(before(ids), torch.device("cpu")))]
    for head, excess in enumerate(found):
        assert excess.shape[1] == (2 * n - 1 if head == 2 else n)
        torch.testing.assert_close(excess[head], torch.ones(excess.shape[1]), atol=1e-6, rtol=0)


def with_columns(column: int, strength: float = 9.0) -> MicroModel:
    """The planted model, whose idle heads 0.1, 1.2 and 1.3 look at one token of a prompt, from everywhere."""
    made = build(PLAN)
    more: dict[str, Any] = {}
    for name, axis in (("W_E", 1), ("W_pos", 1), ("W_Q", 2), ("W_K", 2), ("W_V", 2), ("W_O", 3), ("W_U", 0)):
        old = getattr(made, name)
        shape = list(old.shape)
        shape[axis] = 2
        more[name] = torch.cat([old, old.new_zeros(shape)], axis)
    more["W_E"][:, -2], more["W_E"][column, -1] = 1, 1
    for place in COLUMNS:
        more["W_Q"][*place, -2, 0] = strength * PLAN.n_ctx**0.5
        more["W_K"][*place, -1, 0] = 1
    return MicroModel(**more, tokenizer=word_tokenizer())


PLAN = replace(planted.PLAN, n_ctx=40, d_model=88)
COLUMNS = ((0, 1), (1, 2), (1, 3))


def judged(excess: np.ndarray) -> np.ndarray:
    """Claims of [layer, head]."""
    low, _ = bootstrap_interval(excess.reshape(-1, excess.shape[-1]))
    return claims(excess.mean(-1), low.reshape(excess.shape[:-1]), excess.shape[-1])


@pytest.mark.parametrize("seed", range(20))
def test_heads_that_look_at_one_column_are_never_named_and_the_planted_one_is(seed: int) -> None:
    """The column stands after a token that comes again and again: a stripe by its weight alone."""
    draw = np.random.default_rng(seed)
    column, often, *rest = draw.permutation(np.arange(1, VOCAB - 1)).tolist()
    ids = [VOCAB - 1, often, column]
    while len(ids) < PLAN.n_ctx:
        ids += [often, *draw.choice(rest, draw.integers(1, 4)).tolist()]
    ids = ids[: PLAN.n_ctx]
    seen = look(with_columns(column), ids, before(ids), most_thumb_bytes=0)
    weight = dict(zip(("induction", "prefix"), seen.values, strict=False))["prefix"]
    assert all(weight[place] > 0.3 for place in COLUMNS), "their weight alone would name them"
    named = judged(seen.excess[0])
    assert [named[place] for place in COLUMNS] == [NONE] * 3
    assert named[1, 0] in (FAINT, CLEAR)
    assert seen.above[0].argmax() == 4, "1.0 leads"


def test_too_few_repeats_name_none_and_random_ones_rank() -> None:
    model = with_columns(5)
    ids = [VOCAB - 1, 3, 5, 6, 3, 7, 8, 3]
    seen = look(model, ids, before(ids), most_thumb_bytes=0)
    assert (judged(seen.excess[0]) == TOO_FEW).all()
    found = repeat_scores(model)
    assert found is not None
    assert divmod(int(found[0].argmax()), 4) == (1, 0)
    assert divmod(int(found[2].argmax()), 4) == (0, 0)
    assert found[0, 1, 0] > 0.9
    assert np.abs(found[0][*zip(*COLUMNS, strict=True)]).max() < 0.05


def test_a_context_without_room_for_repeats_gives_none() -> None:
    model = with_columns(5)
    model.W_pos = model.W_pos[:16]
    assert repeat_scores(model) is None


def test_a_claim_needs_queries_a_score_and_an_interval() -> None:
    score, low = np.array([0.5, 0.5, 0.2, 0.2, 0.05, np.nan]), np.array([0.2, 0.05, 0.01, -0.1, 0.04, np.nan])
    assert claims(score, low, 8).tolist() == [CLEAR, FAINT, FAINT, NONE, NONE, NONE]
    assert claims(score, low, 7).tolist() == [TOO_FEW] * 6
