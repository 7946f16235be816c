"""What a model writes with kept keys and values is what it writes without."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from headscope.core.model.bridge import BridgedModel
from headscope.core.model.continuation import continue_text
from headscope.core.model.load import load_model
from headscope.errors import Invalid

IDS = [0, 7, 8, 9, 7, 8, 9, 9, 9, 7, 11, 12, 8, 11]


@pytest.fixture(scope="module")
def model(tiny_folder: Path) -> BridgedModel:
    loaded = load_model(tiny_folder, name="tiny", device="cpu")
    assert isinstance(loaded, BridgedModel)
    return loaded


def recomputed(model: BridgedModel, ids: list[int], n: int) -> list[int]:
    """The most likely tokens, each from a whole pass."""
    ids = list(ids)
    for _ in range(n):
        with torch.no_grad():
            ids.append(int(model.logits(torch.tensor([ids]))[0, -1].argmax()))
    return ids[-n:]


def test_kept_keys_change_nothing(model: BridgedModel) -> None:
    """Longer than Gemma-2's sliding window of 8."""
    assert list(model.continued(IDS, 20, lambda logits: int(logits.argmax()))) == recomputed(model, IDS, 20)


def test_every_step_is_gated(model: BridgedModel) -> None:
    gates = torch.rand(model.info.n_layers, model.info.n_heads, generator=torch.Generator().manual_seed(1))
    plain = recomputed(model, IDS, 12)
    with model.gated(gates):
        wanted = recomputed(model, IDS, 12)
        assert list(model.continued(IDS, 12, lambda logits: int(logits.argmax()))) == wanted
    assert wanted != plain


def test_greedy_stops_where_the_model_ends_its_text(model: BridgedModel) -> None:
    wanted = recomputed(model, IDS, 12)
    end = wanted[5]
    ends, model.ends = model.ends, frozenset({end})
    try:
        found = continue_text(model, IDS, 12)
    finally:
        model.ends = ends
    assert (found.ids, found.stopped) == (wanted[: wanted.index(end)], "end")


def test_ends_are_those_of_the_configuration(model: BridgedModel) -> None:
    stated = model.info.architecture != "HeadscopeAttentionOnly"
    assert model.ends == (frozenset({0}) if stated else frozenset())


def test_a_full_context_ends_it(model: BridgedModel) -> None:
    long = (IDS * 5)[:60]
    model_ends, model.ends = model.ends, frozenset()
    try:
        found = continue_text(model, long, 20)
        assert (len(found.ids), found.stopped) == (4, "context")
        assert continue_text(model, [*long, *found.ids], 20).stopped == "context"
        assert continue_text(model, long, 3).stopped == "length"
    finally:
        model.ends = model_ends
    with pytest.raises(Invalid, match="context of 64"):
        continue_text(model, IDS * 5, 3)


def test_draws_follow_the_generator_and_the_temperature(model: BridgedModel) -> None:
    def drawn(seed: int, temperature: float) -> list[int]:
        return continue_text(model, IDS, 10, temperature, torch.Generator().manual_seed(seed)).ids

    assert drawn(3, 1.0) == drawn(3, 1.0)
    assert len({tuple(drawn(seed, 1.0)) for seed in range(4)}) > 1
    with torch.no_grad():
        logits = model.logits(torch.tensor([IDS]))[0, -1]
    (cold,) = continue_text(model, IDS, 1, 1e-4, torch.Generator().manual_seed(3)).ids
    assert logits[cold] > logits.max() - 2e-3


def test_draws_have_the_models_probabilities(model: BridgedModel) -> None:
    with torch.no_grad():
        wanted = (model.logits(torch.tensor([IDS]))[0, -1].double() / 0.5).softmax(-1)
    likely = int(wanted.argmax())
    generator = torch.Generator().manual_seed(0)
    model_ends, model.ends = model.ends, frozenset()
    try:
        hits = [continue_text(model, IDS, 1, 0.5, generator).ids == [likely] for _ in range(200)]
    finally:
        model.ends = model_ends
    share, p = sum(hits) / 200, float(wanted[likely])
    assert abs(share - p) < 4 * (p * (1 - p) / 200) ** 0.5 + 1e-9


def test_what_cant_be_continued_is_refused(model: BridgedModel) -> None:
    with pytest.raises(Invalid, match="no tokens"):
        continue_text(model, [], 3)
    with pytest.raises(Invalid, match="below 0"):
        continue_text(model, IDS, 3, -1)
    with pytest.raises(Invalid, match="without a generator"):
        continue_text(model, IDS, 3, 0.7)
