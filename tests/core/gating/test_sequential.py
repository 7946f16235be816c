"""Heads removed one after another: whole passes give the same numbers, and take more layers."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.core.gating.evaluation import evaluate
from headscope.core.gating.removal import (
    best_first,
    counts,
    first_changed,
    forms,
    layers_passed,
    random_order,
)
from headscope.core.gating.sequential import CLOSED, OPENED, removed
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.head_model import HeadModel
from headscope.core.model.load import load_model
from micro.model import MicroExample, MicroModel, random_examples, random_model

TRIED = (0, 1, 2, 4, 7)


def orders_of(layers: int, heads: int, n: int = 3) -> np.ndarray:
    return np.stack([random_order(seed, layers * heads) for seed in range(n)])


def base_of(layers: int, heads: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(size=(layers, heads))


def by_hand(model: MicroModel, tokens: tuple[int, ...], targets: tuple[int, ...], gates: np.ndarray) -> float:
    """Mean log-probability of the targets, head by head in plain numpy."""
    w = {name: getattr(model, name).numpy() for name in ("W_E", "W_pos", "W_Q", "W_K", "W_V", "W_O", "W_U")}
    ids = list(tokens)
    stream = w["W_E"][ids] + w["W_pos"][: len(ids)]
    for layer, head_gates in enumerate(gates):
        written = np.zeros_like(stream)
        for head, gate in enumerate(head_gates):
            q, k, v = (stream @ w[name][layer, head] for name in ("W_Q", "W_K", "W_V"))
            score = np.where(np.tri(len(ids), dtype=bool), q @ k.T / math.sqrt(q.shape[1]), -np.inf)
            weights = np.exp(score - score.max(axis=1, keepdims=True))
            weights /= weights.sum(axis=1, keepdims=True)
            written += gate * (weights @ v @ w["W_O"][layer, head])
        stream = stream + written
    logits = stream @ w["W_U"]
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return float(np.mean([logits[target - 1, ids[target]] for target in targets]))


def test_every_number_is_that_of_a_pass_by_hand() -> None:
    model, examples, base = random_model(layers=3), random_examples(4), base_of(3, 3)
    orders = orders_of(3, 3)
    found = removed(model, examples, base, orders, TRIED)
    for order, of_order in zip(orders, found, strict=True):
        for k, of_count in zip(TRIED, of_order, strict=True):
            for form, value in ((CLOSED, 0.0), (OPENED, 1.0)):
                gates = base.copy().reshape(-1)
                for flat in order[:k]:
                    gates[flat] = value
                for index, example in enumerate(examples):
                    expected = by_hand(model, example.tokens, example.targets, gates.reshape(3, 3))
                    assert of_count[form, index] == pytest.approx(expected, abs=1e-10)
    assert (found[:, 0, CLOSED] == found[:, 0, OPENED]).all()


@pytest.fixture(scope="module")
def tiny(tiny_folder: Path) -> BridgedModel:
    loaded = load_model(tiny_folder, name="tiny", dtype="float64", device="cpu")
    assert isinstance(loaded, BridgedModel)
    return loaded


def test_on_every_architecture_it_is_what_whole_passes_give(tiny: BridgedModel) -> None:
    info = tiny.info
    base, orders = base_of(info.n_layers, info.n_heads), orders_of(info.n_layers, info.n_heads)
    # Two that begin alike, so that rows which run packed share their beginning.
    examples = random_examples(5, vocab=200, lengths=(9, 12))
    examples.append(MicroExample((*examples[0].tokens[:6], 7, 8, 9), (8,)))
    found = removed(tiny, examples, base, orders, TRIED)
    for order, of_order in zip(orders, found, strict=True):
        masks = torch.from_numpy(forms(base, order, TRIED)).flatten(0, 1)
        whole = evaluate(tiny, examples, masks).log_probability.view(len(TRIED), 2)
        np.testing.assert_allclose(of_order.mean(axis=2), whole, rtol=0, atol=1e-12)


def _rows_through_layers(model: HeadModel, go: object) -> int:
    passed: list[int] = []
    with model.reading(lambda layer, pattern, norms: passed.append(len(pattern))):
        assert callable(go)
        go()
    return sum(passed)


@pytest.mark.parametrize(("points", "share"), [(8, 0.92), (24, 0.6)])
def test_it_passes_fewer_layers_and_as_many_as_is_said(points: int, share: float) -> None:
    """Counted in the model: a row through a layer is one. The closer the counts, the more is shared."""
    layers, heads, tried = 8, 3, counts(points, 23) if points < 24 else list(range(24))
    model, examples = random_model(layers=layers, heads=heads), random_examples(6)
    base, orders = base_of(layers, heads), orders_of(layers, heads, 4)
    used = _rows_through_layers(model, lambda: removed(model, examples, base, orders, tried))
    assert used == len(examples) * layers_passed(orders, tried, layers, heads)
    whole = np.concatenate([forms(base, order, tried)[1:] for order in orders])
    masks = torch.from_numpy(whole).flatten(0, 1)
    plain = _rows_through_layers(model, lambda: evaluate(model, examples, masks))
    assert plain == len(examples) * len(orders) * 2 * (len(tried) - 1) * layers
    assert used < share * plain


def test_smaller_micro_batches_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    model, examples, base = random_model(layers=3), random_examples(6), base_of(3, 3)
    told: list[tuple[int, int]] = []
    whole = removed(model, examples, base, orders_of(3, 3), TRIED)
    monkeypatch.setattr("headscope.core.gating.replacements.budget_for", lambda _: _tight(model))
    cut = removed(
        model, examples, base, orders_of(3, 3), TRIED, report=lambda done, of: told.append((done, of))
    )
    np.testing.assert_allclose(cut, whole, rtol=0, atol=1e-12)
    assert len(told) > 3
    assert told == [(done, len(told)) for done in range(1, len(told) + 1)]


def _tight(model: MicroModel) -> object:
    from headscope.core.model.cost import Budget, forward_flop

    return Budget(2.5 * forward_flop(model.info, 7, 2), math.inf)


def test_it_can_be_stopped_between_any_two_passes() -> None:
    calls: list[None] = []
    removed(
        random_model(layers=3),
        random_examples(3),
        base_of(3, 3),
        orders_of(3, 3),
        TRIED,
        checkpoint=lambda: calls.append(None),
    )
    assert len(calls) >= 3 * (len(TRIED) - 1)


def test_the_highest_score_goes_first_and_ties_keep_their_place() -> None:
    assert best_first(np.array([[0.2, 0.9], [0.9, 0.5]])).tolist() == [1, 2, 3, 0]


@settings(deadline=None)
@given(points=st.integers(2, 60), largest=st.integers(1, 1100))
def test_counts_run_from_none_to_the_largest(points: int, largest: int) -> None:
    tried = counts(points, largest)
    assert tried[0] == 0
    assert tried[-1] == largest
    assert tried == sorted(set(tried))
    assert len(tried) <= points


def test_the_first_layer_that_changes_is_that_of_the_heads_that_join() -> None:
    order = np.array([5, 4, 0, 2, 1, 3])  # layers 2 2 0 1 0 1 of two heads each
    assert first_changed(order, (0, 1, 2, 4, 6), 2) == [2, 2, 0, 0]
    assert first_changed(order, (0, 2, 3, 4), 2) == [2, 0, 1]
    assert layers_passed(order[None], (0, 2, 3, 4), 3, 2) == 2 * (3 + 1 + 3 + 2)
