"""A head off: predicted by a float64 pass that mixes values anew, then measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from core import reference
from headscope.core.attribution.ablation import (
    AS_IS,
    FREE,
    FROZEN,
    ablate_head,
)
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.load import load_model
from headscope.errors import Invalid

IDS = [0, 7, 8, 9, 7, 8, 9, 9, 9, 7, 11, 12, 8, 11]


@pytest.fixture(scope="module")
def model(tiny_folder: Path) -> BridgedModel:
    loaded = load_model(tiny_folder, name="tiny", device="cpu")
    assert isinstance(loaded, BridgedModel)
    return loaded


def patterns(model: BridgedModel, ids: list[int]) -> dict[int, torch.Tensor]:
    read: dict[int, torch.Tensor] = {}
    with torch.no_grad(), model.reading(lambda layer, pattern, _: read.update({layer: pattern})):
        model.logits(torch.tensor([ids]))
    return read


def test_frozen_at_its_own_patterns_is_the_model_as_it_is(model: BridgedModel) -> None:
    tokens = torch.tensor([IDS])
    with torch.no_grad():
        plain = model.logits(tokens)
        with model.frozen(patterns(model, IDS)):
            torch.testing.assert_close(model.logits(tokens), plain, rtol=1e-4, atol=1e-5)
        with model.sharing([0, 0, 2]):
            three = model.logits(tokens.expand(3, -1))
        torch.testing.assert_close(three, plain.expand(3, -1, -1), rtol=1e-4, atol=1e-5)
        assert torch.equal(model.logits(tokens), plain)


def test_frozen_at_other_patterns_mixes_by_them(model: BridgedModel, tiny_folder: Path) -> None:
    held = reference.forward(tiny_folder, IDS[::-1])[1]
    wanted = reference.forward(tiny_folder, IDS, held=held)[0]
    given = {layer: torch.from_numpy(pattern)[None].float() for layer, pattern in enumerate(held)}
    shown: dict[int, torch.Tensor] = {}
    with torch.no_grad(), model.frozen(given), model.reading(lambda n, p, _: shown.update({n: p})):
        logits = model.logits(torch.tensor([IDS]))
    np.testing.assert_allclose(logits[0].numpy(), wanted, atol=2e-5, rtol=1e-4)
    assert all(torch.equal(shown[layer], given[layer]) for layer in given)


@pytest.mark.parametrize(("layer", "head"), [(0, 0), (0, 3), (1, 2)])
def test_a_head_off_equals_an_independent_recomputation(
    model: BridgedModel, tiny_folder: Path, layer: int, head: int
) -> None:
    gates = np.ones((model.info.n_layers, model.info.n_heads))
    gates[layer, head] = 0
    plain, own = reference.forward(tiny_folder, IDS)
    predicted = [plain, *(reference.forward(tiny_folder, IDS, gates, held)[0] for held in (own, None))]
    found = ablate_head(model, IDS, layer, head)
    wanted = np.stack([reference.losses(logits, IDS) for logits in predicted])
    np.testing.assert_allclose(found.numpy(), wanted, atol=2e-5, rtol=1e-5)
    assert np.nanmax(np.abs(wanted[FROZEN] - wanted[AS_IS])) > 1e-3
    if layer < model.info.n_layers - 1:
        assert np.nanmax(np.abs(wanted[FREE] - wanted[FROZEN])) > 1e-4


def test_in_the_last_layer_frozen_and_free_are_the_same(model: BridgedModel) -> None:
    found = ablate_head(model, IDS, model.info.n_layers - 1, 1)
    torch.testing.assert_close(found[FROZEN], found[FREE], equal_nan=True, rtol=1e-5, atol=1e-5)


def test_a_head_may_be_off_under_other_gates(model: BridgedModel) -> None:
    gates = torch.ones(model.info.n_layers, model.info.n_heads)
    gates[1, 1] = 0
    alone = ablate_head(model, IDS, 1, 1)[FREE]
    with model.gated(gates):
        under = ablate_head(model, IDS, 0, 0)
    torch.testing.assert_close(under[AS_IS], alone, equal_nan=True, rtol=1e-5, atol=1e-5)


def test_what_isnt_there_is_refused(model: BridgedModel) -> None:
    with pytest.raises(Invalid, match=r"no head 9\.0.*Layers run 0-"):
        ablate_head(model, IDS, 9, 0)
    with pytest.raises(Invalid, match="Layers run 0-"), model.frozen({-1: torch.zeros(1, 4, 3, 3)}):
        pass
    wrong = {0: torch.zeros(1, model.info.n_heads, 3, 3)}
    with model.frozen(wrong), pytest.raises(Invalid, match="don't fit"):
        model.logits(torch.tensor([IDS]))
    with torch.no_grad():
        model.logits(torch.tensor([IDS]))  # nothing of the failure is left
