"""Reads, memory and norms of the stream against plain computations."""

from __future__ import annotations

import pytest
import torch

from headscope.core.circuits.residual import memory, norms, reads
from headscope.core.circuits.virtual import reader, virtual, writer
from headscope.core.circuits.weights import read_weights
from headscope.core.model.bridge import BridgedModel

IDS = [3, 14, 15, 9, 26]


def test_every_share_is_the_virtual_weights(model: BridgedModel) -> None:
    weights = read_weights(model, dtype=torch.float64)
    found = reads(weights)
    assert found.shares.shape == (len(found.writers), len(found.readers))
    for row, one in enumerate(found.writers):
        for column, two in enumerate(found.readers):
            if (row * 7 + column) % 11:  # every pair is too many; each writer and reader comes up
                continue
            ends = writer(weights, one), reader(weights, two)
            share = float(found.shares[row, column])
            if ends[1].order <= ends[0].order:
                assert share != share, (one, two)
            else:
                assert share == pytest.approx(virtual(*ends).share, rel=1e-6), (one, two)


def test_norms_of_writers_are_those_of_their_matrices(grouped: BridgedModel) -> None:
    weights = read_weights(grouped, dtype=torch.float64)
    found = dict(zip(reads(weights).writers, reads(weights).norms.tolist(), strict=True))
    part, mlp = weights.layer(1), weights.mlp(2)
    assert mlp is not None
    assert found["embed"] == pytest.approx(float(weights.W_E.norm()))
    assert found["1.3"] == pytest.approx(float((part.W_V[3] @ part.W_O[3]).norm()))
    assert found["mlp 2"] == pytest.approx(float(mlp.W_out.norm()))


def test_a_neuron_and_a_head_that_clear_what_they_read(grouped: BridgedModel) -> None:
    weights = read_weights(grouped, "raw", torch.float64)
    mlp, part = weights.mlp(1), weights.layer(0)
    assert mlp is not None
    mlp.W_out[4] = -2 * mlp.W_in[:, 4]
    part.W_O[2] = -part.W_V[2].T
    weights.mlp = lambda layer: mlp  # type: ignore[method-assign]
    weights.layers = lambda: iter([part])  # type: ignore[method-assign]
    found = memory(weights)
    assert float(found.cosine[0, 4]) == pytest.approx(-1)
    assert float(found.erasing[0, 2]) == pytest.approx(1)
    assert float(found.erasing[0, 1].abs()) < 1


def test_a_model_without_mlps_has_no_neurons(attention_only: BridgedModel) -> None:
    found = memory(read_weights(attention_only))
    assert found.cosine.shape == (2, 0)
    assert found.erasing.shape == (2, 4)


def test_norms_along_the_stream(model: BridgedModel) -> None:
    weights = read_weights(model)
    found = norms(weights, IDS)
    first = weights.W_E[torch.tensor(IDS)]
    if weights.W_pos is not None:
        first = first + weights.W_pos[: len(IDS)]
    torch.testing.assert_close(found.stream[0], first.norm(dim=-1), rtol=1e-4, atol=1e-4)
    assert found.stream.shape == (model.info.n_layers + 1, len(IDS))
    assert found.attention.isfinite().all()
    assert bool(found.mlp.isfinite().all()) == (not model.bridge.cfg.attn_only)


def test_what_is_added_makes_the_difference(attention_only: BridgedModel) -> None:
    """Attention alone: the stream after layer 0 minus before it is what attention added."""
    weights = read_weights(attention_only, dtype=torch.float64)
    found = norms(weights, IDS)
    layer = weights.layer(0)
    with torch.no_grad(), attention_only.captured((0,), ("z",)) as seen:
        attention_only.logits(torch.tensor([IDS]))
    added = torch.einsum("phd,hdm->pm", seen["0.z"][0], layer.W_O) + layer.b_O
    torch.testing.assert_close(found.attention[0], added.norm(dim=-1))
