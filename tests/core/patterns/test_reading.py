"""Scores against loops over an independent float64 pass; what is read against the bridge's own hooks."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core import reference
from headscope.core.model import attention
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.load import load_model
from headscope.core.model.tokens import Token
from headscope.core.patterns.reading import (
    NO_KEY,
    look,
    looks,
    pack,
    pool,
    quantise,
    score_pattern,
    thumb_size,
    top_keys,
    weigh,
)
from headscope.core.patterns.repeats import copies
from headscope.core.patterns.scores import SCORES
from headscope.errors import Invalid

PROMPTS = (
    [0, 7, 8, 9, 7, 8, 9, 9, 9, 7, 11, 12, 8, 11],
    [5, 5, 5, 6, 5, 6],
    [0, *range(20, 50)],
    [3],
    [3, 4],
)


@pytest.fixture(scope="module")
def model(tiny_folder: Path) -> BridgedModel:
    loaded = load_model(tiny_folder, name="tiny", device="cpu")
    assert isinstance(loaded, BridgedModel)
    return loaded


def before(ids: list[int]) -> list[list[int]]:
    return copies([Token(i, 0, 1, b"x", i == 0) for i in ids])


def expected(folder: Path, ids: list[int]) -> np.ndarray:
    patterns = reference.forward(folder, ids)[1]
    by_head = [[reference.scores(head, ids, frozenset({0})) for head in layer] for layer in patterns]
    return np.moveaxis(np.array(by_head), -1, 0)


@pytest.mark.parametrize("ids", PROMPTS, ids=lambda ids: f"{len(ids)} tokens")
def test_scores_and_losses_are_those_of_a_plain_computation(
    model: BridgedModel, tiny_folder: Path, ids: list[int]
) -> None:
    seen = look(model, ids, before(ids))
    np.testing.assert_allclose(seen.values, expected(tiny_folder, ids), atol=1e-5, rtol=0)
    logits = reference.forward(tiny_folder, ids)[0]
    np.testing.assert_allclose(seen.loss, reference.losses(logits, ids), atol=2e-5, rtol=1e-5)


def test_scores_follow_the_gates(model: BridgedModel, tiny_folder: Path) -> None:
    ids = PROMPTS[0]
    gates = np.random.default_rng(0).random((model.info.n_layers, model.info.n_heads))
    with model.gated(torch.from_numpy(gates).float()):
        seen = look(model, ids, before(ids))
    logits, patterns = reference.forward(tiny_folder, ids, gates=gates)
    wanted = [[reference.scores(head, ids, frozenset({0})) for head in layer] for layer in patterns]
    np.testing.assert_allclose(seen.values, np.moveaxis(np.array(wanted), -1, 0), atol=1e-5, rtol=0)
    np.testing.assert_allclose(seen.loss, reference.losses(logits, ids), atol=2e-5, rtol=1e-5)


def test_a_batch_is_its_prompts_and_padding_changes_nothing(model: BridgedModel) -> None:
    together = looks(model, PROMPTS, [before(ids) for ids in PROMPTS], weighted=True)
    for ids, seen in zip(PROMPTS, together, strict=True):
        alone = look(model, ids, before(ids), weighted=True)
        np.testing.assert_allclose(seen.values, alone.values, atol=1e-6)
        np.testing.assert_allclose(seen.loss, alone.loss, atol=1e-5)
        assert seen.thumbs is not None
        assert alone.thumbs is not None
        assert seen.thumbs.values.shape == alone.thumbs.values.shape
        assert np.abs(seen.thumbs.values.astype(int) - alone.thumbs.values).max() <= 1


def test_one_token_has_no_scores_and_all_attention_on_itself(model: BridgedModel) -> None:
    seen = look(model, [3], [[]])
    assert np.isnan(seen.values).all()
    assert np.isnan(seen.loss).tolist() == [True]
    assert seen.sink == 1.0
    assert seen.thumbs is not None
    assert (seen.thumbs.values == 255).all()


def bridged(model: BridgedModel, tokens: torch.Tensor, hook: str) -> list[torch.Tensor]:
    """What passes a hook of each layer's attention in a pass of TransformerLens, step by step."""
    seen: list[torch.Tensor] = []
    points = [getattr(block.attn, hook) for block in model.bridge.blocks]
    handles = [point.register_forward_hook(lambda _, __, out: seen.append(out.clone())) for point in points]
    model.bridge.original_model(input_ids=tokens, use_cache=False)
    for handle in handles:
        handle.remove()
    return seen


def test_what_is_read_is_the_bridges_pattern(model: BridgedModel) -> None:
    tokens = torch.tensor([PROMPTS[0], PROMPTS[0][::-1]])
    layers = tuple(range(model.info.n_layers))
    read: dict[int, torch.Tensor] = {}
    with torch.no_grad():
        stepwise = bridged(model, tokens, "hook_pattern")
        with model.captured(layers, ("pattern",)) as captured:
            model.logits(tokens)
        with model.reading(lambda layer, pattern, _: read.update({layer: pattern})):
            logits = model.logits(tokens)
        torch.testing.assert_close(logits, model.logits(tokens), rtol=1e-4, atol=1e-5)
    assert sorted(read) == list(layers)
    for layer in layers:
        torch.testing.assert_close(read[layer], stepwise[layer], rtol=1e-5, atol=1e-6)
        assert torch.equal(read[layer], captured[f"{layer}.pattern"])
        torch.testing.assert_close(read[layer].sum(-1), torch.ones(2, model.info.n_heads, len(PROMPTS[0])))
        assert read[layer].triu(1).abs().max() == 0


def test_value_norms_are_those_of_each_query_heads_group(model: BridgedModel) -> None:
    tokens = torch.tensor([PROMPTS[0]])
    seen: dict[int, torch.Tensor] = {}

    def visit(layer: int, _: torch.Tensor, norms: torch.Tensor | None) -> None:
        assert norms is not None
        seen[layer] = norms

    with torch.no_grad():
        with model.reading(visit, layers=(1,), values=True):
            model.logits(tokens)
        values = bridged(model, tokens, "hook_v")
    groups = values[1].reshape(len(PROMPTS[0]), model.info.n_kv_heads, model.info.d_head)
    share = model.info.n_heads // model.info.n_kv_heads
    for head in range(model.info.n_heads):
        torch.testing.assert_close(seen[1][0, head], groups[:, head // share].norm(dim=-1))
    assert list(seen) == [1]


def test_contexts_nest_and_leave_nothing(model: BridgedModel) -> None:
    tokens = torch.tensor([PROMPTS[0]])
    inner: list[int] = []
    outer: list[int] = []
    with torch.no_grad():
        plain = model.logits(tokens)
        with model.reading(lambda layer, *_: outer.append(layer), layers=(1,)):
            with (
                model.reading(lambda layer, *_: inner.append(layer)),
                model.captured((0,), ("pattern", "z")) as found,
            ):
                model.logits(tokens)
            model.logits(tokens)
        assert (inner, outer) == (list(range(model.info.n_layers)), [1, 1])
        assert set(found) == {"0.pattern", "0.z"}
        with model.captured((0,), ("pattern",)), model.reading(lambda layer, *_: inner.append(layer)):
            model.logits(tokens)
        assert inner == 2 * list(range(model.info.n_layers))
        assert torch.equal(model.logits(tokens), plain)
        with pytest.raises(Invalid, match="Layers run 0-"), model.reading(lambda *_: None, layers=(9,)):
            pass
        with pytest.raises(ZeroDivisionError), model.reading(lambda *_: 1 / 0):  # type: ignore[arg-type]
            model.logits(tokens)
        assert torch.equal(model.logits(tokens), plain)


def test_attention_that_cant_be_called_is_read_as_it_runs(
    model: BridgedModel, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_name = attention.by_name
    ids = PROMPTS[0]
    direct = look(model, ids, before(ids), weighted=True)
    monkeypatch.setattr(attention, "by_name", lambda _: False)
    seen = look(model, ids, before(ids), weighted=True)
    np.testing.assert_allclose(seen.values, direct.values, atol=1e-5)
    np.testing.assert_allclose(seen.loss, direct.loss, atol=1e-4)
    held = reference.forward(tiny_folder, ids[::-1])[1]
    with torch.no_grad(), model.frozen({1: torch.from_numpy(held[1])[None]}):
        slow = model.logits(torch.tensor([ids]))
    monkeypatch.setattr(attention, "by_name", by_name)
    with torch.no_grad(), model.frozen({1: torch.from_numpy(held[1])[None]}):
        torch.testing.assert_close(model.logits(torch.tensor([ids])), slow, rtol=1e-4, atol=1e-4)


def test_losses_are_the_logits_losses(model: BridgedModel) -> None:
    tokens = torch.randint(1, 300, (9, 40), generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        found = model.losses(tokens)
        logits = model.logits(tokens)[:, :-1]
    wanted = torch.nn.functional.cross_entropy(logits.transpose(1, 2), tokens[:, 1:], reduction="none")
    torch.testing.assert_close(found[:, 1:], wanted, rtol=1e-5, atol=1e-5)
    assert found[:, 0].isnan().all()


def test_only_the_latest_copy_is_needed(model: BridgedModel) -> None:
    pattern = torch.rand(2, 14, 14, generator=torch.Generator().manual_seed(0)).tril()
    every = score_pattern(pattern, before(PROMPTS[0]))
    latest = score_pattern(pattern, [b[-1:] for b in before(PROMPTS[0])])
    assert torch.equal(every, latest)
    assert every.shape == (len(SCORES), 2)


def test_known_patterns_score_as_they_should() -> None:
    ids = [1, 2, 3, 1, 2, 3]
    pattern = torch.zeros(3, 6, 6)
    for i, token in enumerate(ids):
        later = i >= 3
        pattern[0, i, i - 2 if later else 0] = 1  # induction: the token after the copy
        pattern[1, i, max(i - 1, 0)] = 1  # previous
        pattern[2, i, : i + 1] = 1 / (i + 1)  # uniform
        assert token == ids[i]
    found = dict(zip([s.name for s in SCORES], score_pattern(pattern, before_all(ids)), strict=True))
    assert found["induction"].tolist() == pytest.approx([1, 0, (1 / 4 + 1 / 5 + 1 / 6) / 3])
    assert found["previous"].tolist() == pytest.approx([1 / 5, 1, sum(1 / n for n in range(2, 7)) / 5])
    assert found["entropy"].tolist() == pytest.approx([0, 0, sum(math.log(n) for n in range(2, 7)) / 5])


def before_all(ids: list[int]) -> list[list[int]]:
    return copies([Token(i, 0, 1, b"x", False) for i in ids])


@given(st.floats(0, 1))
def test_a_byte_gives_the_weight_back(weight: float) -> None:
    byte = int(quantise(torch.tensor([weight]))[0])
    assert abs((byte / 255) ** 2 - weight) <= math.sqrt(weight) / 255 + 1 / 255**2


def test_the_triangle_is_packed_row_by_row() -> None:
    pattern = torch.tensor([[[1.0, 0, 0], [0.25, 0.75, 0], [0, 1, 0]]])
    assert pack(pattern).tolist() == [[255, 128, 221, 0, 255, 0]]


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 70), st.integers(1, 9))
def test_pooling_takes_the_largest_of_a_block(length: int, block: int) -> None:
    pattern = torch.rand(2, length, length, generator=torch.Generator().manual_seed(length)).tril()
    pooled = pool(pattern, block)
    size = -(-length // block)
    assert pooled.shape == (2, size, size)
    for row in range(size):
        for column in range(size):
            cell = pattern[:, row * block : (row + 1) * block, column * block : (column + 1) * block]
            assert torch.equal(pooled[:, row, column], cell.amax((1, 2)))


@given(st.integers(1, 8192), st.integers(1, 2048))
def test_thumbnails_cover_the_prompt_within_their_bytes(length: int, heads: int) -> None:
    size, block = thumb_size(length, heads, 700_000)
    assert heads * size * (size + 1) // 2 <= 700_000
    assert size * block >= length > (size - 1) * block
    assert block == 1 or size * (block - 1) < length


def test_a_long_prompts_thumbnails_are_pooled(model: BridgedModel) -> None:
    ids = list(range(1, 61))
    heads = model.info.n_layers * model.info.n_heads
    seen = look(model, ids, before(ids), most_thumb_bytes=heads * 55)
    assert seen.thumbs is not None
    assert (seen.thumbs.size, seen.thumbs.block) == (10, 6)
    patterns: dict[int, torch.Tensor] = {}
    with torch.no_grad(), model.reading(lambda layer, pattern, _: patterns.update({layer: pattern[0]})):
        model.logits(torch.tensor([ids]))
    for layer, pattern in patterns.items():
        blocks = pattern.reshape(-1, 10, 6, 10, 6).amax((2, 4))
        assert np.array_equal(seen.thumbs.values[layer], pack(blocks).numpy())
    assert look(model, ids, before(ids), most_thumb_bytes=0).thumbs is None


def test_top_keys_hold_the_largest_and_the_rest() -> None:
    pattern = torch.rand(3, 20, 20, generator=torch.Generator().manual_seed(0)).tril()
    pattern = pattern / pattern.sum(-1, keepdim=True)
    top = top_keys(pattern, 4)
    for head in range(3):
        for query in range(20):
            order = sorted(range(query + 1), key=lambda key: -float(pattern[head, query, key]))[:4]
            assert top.keys[head, query].tolist() == order + [NO_KEY] * (4 - len(order))
            rest = 1 - sum(float(pattern[head, query, key]) for key in order)
            assert top.rest[head, query] == pytest.approx(rest, abs=1e-5)
    assert (top.weights[top.keys == NO_KEY] == 0).all()
    assert top_keys(pattern[:, :2, :2], 9).keys.shape == (3, 2, 2)


def test_weighing_by_values_keeps_rows_at_one() -> None:
    pattern = torch.tensor([[[1.0, 0], [0.5, 0.5]]])
    assert weigh(pattern, torch.tensor([[3.0, 1.0]])).tolist() == [[[1.0, 0], [0.75, 0.25]]]
    assert weigh(pattern, torch.tensor([[0.0, 0.0]])).isfinite().all()
