"""Spectra against explicit vocab x vocab matrices in float64."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from core.circuits.conftest import load, save
from headscope.core.circuits.eigen import (
    positivity,
    qk_turned,
    residual_spectrum,
    spectra,
    through_previous,
)
from headscope.core.circuits.rotary import rotations
from headscope.core.circuits.weights import Processing, Weights, read_weights
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.norms import norm_scale


def explicit(table: torch.Tensor, rank: int) -> torch.Tensor:
    """The largest eigenvalues of a whole vocab x vocab table."""
    values: torch.Tensor = torch.linalg.eigvals(table.double())
    return values[values.abs().argsort(descending=True)][:rank]


def same(found: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Equal as sets, to 1e-4 of the largest: pairs of equal modulus may change places."""
    distance = (found[:, None].to(wanted.dtype) - wanted[None]).abs()
    worst = max(distance.min(0).values.max(), distance.min(1).values.max())
    return bool(worst <= 1e-4 * wanted.abs().max())


def tables(weights: Weights, layer: int, head: int) -> tuple[torch.Tensor, torch.Tensor]:
    """OV and QK [vocab, vocab], formed."""
    part = weights.layer(layer)
    W_E, W_U = weights.W_E.double(), weights.W_U.double()
    W_Q, W_K, W_V, W_O = (w[head].double() for w in (part.W_Q, part.W_K, part.W_V, part.W_O))
    return W_E @ W_V @ W_O @ W_U, W_E @ W_Q @ W_K.T @ W_E.T


@pytest.mark.parametrize("processing", ["raw", "folded"])
def test_every_head_has_the_eigenvalues_of_its_tables(model: BridgedModel, processing: Processing) -> None:
    weights = read_weights(model, processing)
    found = spectra(weights)
    for layer in range(model.info.n_layers):
        for head in range(model.info.n_heads):
            ov, qk = tables(weights, layer, head)
            assert same(found.ov[layer, head], explicit(ov, model.info.d_head))
            assert same(found.qk[layer, head], explicit(qk, model.info.d_head))
            trace = torch.trace(ov) / explicit(ov, 50).abs().sum()
            assert positivity(found.ov)[layer, head].item() == pytest.approx(trace.item(), abs=1e-4)


def test_float64_is_an_option_and_agrees(model: BridgedModel) -> None:
    wide = spectra(read_weights(model, dtype=torch.float64))
    assert wide.ov.dtype == torch.complex128
    assert same(spectra(read_weights(model)).ov[1, 2], wide.ov[1, 2])


def test_bf16_weights_are_upcast(tmp_path: Path) -> None:
    model = load(save("llama", tmp_path, dtype=torch.bfloat16), "bfloat16")
    weights = read_weights(model)
    assert weights.W_E.dtype == torch.float32
    assert same(spectra(weights).ov[2, 3], explicit(tables(weights, 2, 3)[0], model.info.d_head))


def test_keys_through_an_earlier_head(grouped: BridgedModel) -> None:
    weights = read_weights(grouped, dtype=torch.float64)
    previous = torch.tensor([[0.1, 0.7, 0.1, 0.1], [0.2, 0.2, 0.9, 0.0], [1.0, 0.0, 0.0, 0.0]])
    found = through_previous(weights, previous)
    assert found.best == ((-1, -1), (0, 1), (1, 2))
    assert found.through_best[0].isnan().all()
    first, second, third = weights.layers()

    def through(ov: torch.Tensor) -> torch.Tensor:
        W_QK = third.W_Q[3] @ third.W_K[3].T
        return explicit(weights.W_E @ W_QK @ ov.T @ weights.W_E.T, grouped.info.d_head)

    assert same(found.through_best[2, 3], through(second.W_V[2] @ second.W_O[2]))
    mixed = sum(
        previous[number, head].double() * part.W_V[head] @ part.W_O[head]
        for number, part in enumerate((first, second))
        for head in range(4)
    )
    assert isinstance(mixed, torch.Tensor)
    assert same(found.through_all[2, 3], through(mixed / previous[:2].sum()))


def test_a_copying_head_is_positive_and_an_erasing_head_negative() -> None:
    values = torch.tensor([[1 + 1j, 1 - 1j, 2], [-1, -1, -2 + 0j], [0, 0, 0]])
    copying, erasing, dead = positivity(values).tolist()
    assert copying == pytest.approx(4 / (2 + 2 * np.sqrt(2)))
    assert erasing == -1
    assert np.isnan(dead)


def test_what_a_head_takes_away_from_the_stream(attention_only: BridgedModel) -> None:
    layer = read_weights(attention_only, "raw", torch.float64).layer(1)
    wanted = explicit(layer.W_V[2] @ layer.W_O[2], 6)
    assert same(residual_spectrum(layer)[2], wanted)


def test_a_rotation_gives_the_models_own_scores(grouped: BridgedModel) -> None:
    """Layer 0's pattern from folded weights, each pair of places turned by its distance."""
    tokens = torch.tensor([[3, 14, 15, 9, 26, 5, 35]])
    weights = read_weights(grouped, dtype=torch.float64)
    stream = weights.W_E[tokens[0]]
    stream = norm_scale(grouped.bridge.blocks[0].ln1, stream)[:, None] * stream
    layer = weights.layer(0)
    scores = torch.full((7, 7), -torch.inf, dtype=torch.float64)
    for query in range(7):
        for key in range(query + 1):
            turned = rotations(weights, query - key)
            assert turned is not None
            scores[query, key] = stream[query] @ layer.W_Q[2] @ turned[0] @ layer.W_K[2].T @ stream[key]
    with torch.no_grad(), grouped.captured((0,), ("pattern",)) as found:
        grouped.logits(tokens)
    wanted = found["0.pattern"][0, 2]
    torch.testing.assert_close((scores / 6**0.5).softmax(-1), wanted, rtol=1e-4, atol=1e-6)


def test_spectra_at_a_distance(grouped: BridgedModel, attention_only: BridgedModel) -> None:
    weights = read_weights(grouped, dtype=torch.float64)
    turned, still = rotations(weights, 3), rotations(weights, 0)
    assert turned is not None
    assert still is not None
    torch.testing.assert_close(still, torch.eye(6, dtype=torch.float64).expand(3, 6, 6))
    layer = weights.layer(1)
    table = weights.W_E @ layer.W_Q[1] @ turned[1] @ layer.W_K[1].T @ weights.W_E.T
    assert same(qk_turned(weights, turned)[1, 1], explicit(table, 6))
    assert rotations(read_weights(attention_only), 3) is None
