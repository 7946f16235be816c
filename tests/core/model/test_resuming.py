"""A pass that begins in the middle is the whole pass, on every architecture."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from headscope.core.model.bridge import BridgedModel
from headscope.core.model.load import load_model
from headscope.core.model.resuming import LastToken, Suffix
from headscope.errors import Invalid
from micro.model import random_model


@pytest.fixture(scope="module")
def model(tiny_folder: Path) -> BridgedModel:
    loaded = load_model(tiny_folder, name="tiny", device="cpu")
    assert isinstance(loaded, BridgedModel)
    return loaded


@pytest.fixture(scope="module")
def tokens() -> torch.Tensor:
    return torch.randint(1, 300, (3, 20), generator=torch.Generator().manual_seed(0))


def _streams(model: BridgedModel, tokens: torch.Tensor) -> dict[int, torch.Tensor]:
    with torch.no_grad(), model.streams(range(model.info.n_layers)) as found:
        model.logits(tokens)
    return found


@torch.no_grad()
def test_resumed_anywhere_is_the_whole_pass(model: BridgedModel, tokens: torch.Tensor) -> None:
    whole = model.logits(tokens)
    streams = _streams(model, tokens)
    for layer, stream in streams.items():
        assert stream.shape == (*tokens.shape, model.info.d_model)
        with model.resumed(layer, stream):
            assert torch.equal(model.logits(tokens), whole), layer
    assert torch.equal(model.logits(tokens), whole)  # nothing stays behind


@torch.no_grad()
def test_earlier_layers_do_nothing(model: BridgedModel, tokens: torch.Tensor) -> None:
    streams = _streams(model, tokens)
    last = model.info.n_layers - 1
    whole = model.logits(tokens)
    closed = torch.ones(model.info.n_layers, model.info.n_heads)
    closed[:last] = 0
    with model.gated(closed), model.resumed(last, streams[last]):
        assert torch.equal(model.logits(tokens), whole)
    closed[last] = 0
    with model.gated(closed), model.resumed(last, streams[last]):
        assert not torch.equal(model.logits(tokens), whole)


@torch.no_grad()
def test_another_stream_gives_its_own_pass(model: BridgedModel, tokens: torch.Tensor) -> None:
    other = tokens.flip(1)
    streams = _streams(model, other)
    with model.resumed(1, streams[1]):
        assert torch.equal(model.logits(tokens), model.logits(other))


def test_gradients_flow_from_a_resumed_pass(model: BridgedModel, tokens: torch.Tensor) -> None:
    stream = _streams(model, tokens)[1].clone().requires_grad_()
    with model.resumed(1, stream):
        model.logits(tokens)[:, -1].sum().backward()
    assert stream.grad is not None
    assert stream.grad.abs().sum(-1).min() >= 0
    assert stream.grad.abs().max() > 0


@torch.no_grad()
def test_patterns_of_a_resumed_pass_are_those_of_the_whole_one(
    model: BridgedModel, tokens: torch.Tensor
) -> None:
    stream = _streams(model, tokens)[1]
    with model.captured((1,), ("pattern",)) as whole:
        model.logits(tokens)
    with model.resumed(1, stream), model.captured((1,), ("pattern",)) as resumed:
        model.logits(tokens)
    torch.testing.assert_close(resumed["1.pattern"], whole["1.pattern"], rtol=1e-5, atol=1e-6)


@torch.no_grad()
@pytest.mark.parametrize("start", [0, 1, 13, 19])
def test_a_suffix_ends_where_the_prompt_does(model: BridgedModel, tokens: torch.Tensor, start: int) -> None:
    whole = model.logits(tokens[:1])[0, -1]
    suffix = Suffix(model, tokens[0].tolist(), start)
    torch.testing.assert_close(suffix.last_logits()[0], whole, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(suffix.last_logits()[0], whole, rtol=1e-5, atol=1e-5)  # it serves again


@torch.no_grad()
def test_last_token_rows_are_whole_passes_with_that_stream(model: BridgedModel, tokens: torch.Tensor) -> None:
    streams = _streams(model, tokens[:1])
    last = LastToken(model, tokens[0].tolist())
    for layer, stream in streams.items():
        changed = stream.expand(3, -1, -1).clone()
        changed[1, -1] *= 0.5
        changed[2, -1] += torch.linspace(-1, 1, model.info.d_model)
        rows = last.logits(layer, changed[:, -1])
        with model.resumed(layer, changed):
            whole = model.logits(tokens[:1].expand(3, -1))[:, -1]
        torch.testing.assert_close(rows, whole, rtol=1e-4, atol=1e-5)
        assert (rows[1] - rows[0]).abs().max() > 1e-4


def test_what_does_not_fit_is_refused(model: BridgedModel, tokens: torch.Tensor) -> None:
    stream = _streams(model, tokens)[1]
    with pytest.raises(Invalid, match=f"Layers run 0-{model.info.n_layers - 1}"):
        model.resumed(model.info.n_layers, stream)
    with pytest.raises(Invalid, match="doesn't fit a pass"), model.resumed(1, stream[:, :-1]):
        model.logits(tokens)
    with pytest.raises(Invalid, match="Position 20 of 20"):
        Suffix(model, tokens[0].tolist(), 20)
    with pytest.raises(Invalid, match="65 tokens don't fit the context of 64"):
        LastToken(model, [1] * 65).last_logits()


@torch.no_grad()
def test_the_micro_model_resumes_too() -> None:
    model = random_model(layers=3)
    tokens = torch.randint(0, 11, (2, 7), generator=torch.Generator().manual_seed(0))
    with model.streams(range(3)) as streams:
        whole = model.logits(tokens)
    for layer, stream in streams.items():
        with model.resumed(layer, stream):
            assert torch.equal(model.logits(tokens), whole)
