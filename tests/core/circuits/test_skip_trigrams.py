"""Skip trigrams against all triples, and crossed pairs in a head made to have them."""

from __future__ import annotations

import itertools

import pytest
import torch

from headscope.core.circuits.skip_trigrams import (
    HeadTables,
    crossed,
    head_tables,
    largest_crossed,
    trigrams,
)
from headscope.core.circuits.tables import Table
from headscope.core.circuits.weights import read_weights
from headscope.core.model.bridge import BridgedModel
from headscope.errors import Invalid

KEEP, IN, AT, MIND, BAY = range(5)


def test_the_strongest_sources_are_those_of_all_triples(attention_only: BridgedModel) -> None:
    weights = read_weights(attention_only, dtype=torch.float64)
    part = weights.layer(0)
    qk = weights.W_E @ part.W_Q[2] @ part.W_K[2].T @ weights.W_E.T / 6**0.5
    ov = weights.W_E @ part.W_V[2] @ part.W_O[2] @ weights.W_U
    qk, ov = qk - qk.mean(1, keepdim=True), ov - ov.mean(1, keepdim=True)
    score = qk.T.clamp_min(0)[:, :, None] * ov.clamp_min(0)[:, None, :]  # [source, destination, output]
    found = trigrams(head_tables(weights, 0, 2), 5, near=3)
    best = score.amax((1, 2))
    assert found.sources.tolist() == best.argsort(descending=True)[:5].tolist()
    torch.testing.assert_close(found.scores, best[found.sources])
    for place, source in enumerate(found.sources.tolist()):
        assert found.destinations[place].tolist() == qk[:, source].argsort(descending=True)[:3].tolist()
        assert found.outputs[place].tolist() == ov[source].argsort(descending=True)[:3].tolist()


def made_by_hand() -> HeadTables:
    """keep is looked at from in and at, and raises mind and bay; bigrams know in mind and at bay."""
    qk, ov, direct = torch.zeros(5, 5), torch.zeros(5, 5), torch.zeros(5, 5)
    qk[IN, KEEP], qk[AT, KEEP] = 2.0, 3.0
    ov[KEEP, MIND], ov[KEEP, BAY] = 4.0, 5.0
    direct[IN, MIND] = direct[AT, BAY] = 1.5
    eye = torch.eye(5)
    return HeadTables(Table("qk", qk, eye), Table("ov", ov, eye), Table("direct", direct, eye))


def test_keep_in_mind_and_keep_at_bay_cross() -> None:
    found = crossed(made_by_hand(), KEEP, (IN, MIND), (AT, BAY))
    assert found.scores == (8.0, 15.0, 10.0, 12.0)
    assert found.margin == 3.0
    assert found.scores[0] * found.scores[1] == found.scores[2] * found.scores[3], "only products can be had"


def test_the_search_finds_them_by_itself() -> None:
    tables = made_by_hand()
    found = trigrams(tables, 3, near=2)
    assert (int(found.sources[0]), float(found.scores[0])) == (KEEP, 15.0)
    (pair,) = largest_crossed(tables, found, 5)
    assert pair.source == KEEP
    assert {pair.first, pair.second} == {(IN, MIND), (AT, BAY)}


def test_the_search_takes_the_worst_of_all_pairs(attention_only: BridgedModel) -> None:
    tables = head_tables(read_weights(attention_only, dtype=torch.float64), 1, 1)
    found = trigrams(tables, 1, near=4)
    (pair,) = largest_crossed(tables, found, 1)
    B, C = found.destinations[0].tolist(), found.outputs[0].tolist()
    every = [
        crossed(tables, int(found.sources[0]), (b1, c1), (b2, c2))
        for b1, b2 in itertools.permutations(B, 2)
        for c1, c2 in itertools.permutations(C, 2)
    ]
    worst = max(min(one.scores[2:]) * one.margin for one in every)
    assert min(pair.scores[2:]) * pair.margin == pytest.approx(worst)
    again = crossed(tables, pair.source, pair.first, pair.second)
    assert again.scores == pytest.approx(pair.scores)
    assert again.margin == pytest.approx(pair.margin)


def test_tokens_outside_the_vocabulary_are_refused() -> None:
    with pytest.raises(Invalid, match="Token 7"):
        crossed(made_by_hand(), KEEP, (7, MIND), (AT, BAY))
