"""Packed rows and a narrow last layer are the plain pass: each architecture, values and gradients."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headscope.core.model.bridge import BridgedModel
from headscope.core.model.load import load_model
from headscope.core.model.packing import pack

ROWS = [
    (0, (9, 4, 7, 7)),
    (0, (9, 4, 8)),
    (0, (9, 5, 8, 7, 6, 3)),
    (1, (9, 4, 7, 7)),
    (1, (9, 4, 7, 7, 2)),
]
WHERE = [(0, 3), (1, 1), (1, 2), (2, 5), (3, 0), (3, 3), (4, 3), (4, 4)]


@pytest.fixture(scope="module")
def model(tiny_folder: Path) -> BridgedModel:
    return bridged(tiny_folder)


def bridged(folder: Path) -> BridgedModel:
    loaded = load_model(folder, name="tiny", dtype="float64", device="cpu")
    assert isinstance(loaded, BridgedModel)
    return loaded


def some_gates(model: BridgedModel, sets: int = 2) -> torch.Tensor:
    shape = (sets, model.info.n_layers, model.info.n_heads)
    return torch.rand(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(3))


def one_by_one(
    model: BridgedModel,
    gates: torch.Tensor,
    rows: Sequence[tuple[int, Sequence[int]]] = ROWS,
    where: Sequence[tuple[int, int]] = WHERE,
) -> torch.Tensor:
    """Every row alone, all its logits, picked at the end."""
    logits = []
    for row, position in where:
        owner, line = rows[row]
        with model.gated(gates[owner]):
            logits.append(model.logits(torch.tensor([list(line)]))[0, position])
    return torch.stack(logits)


def test_a_packing_worked_by_hand() -> None:
    packing = pack([(0, (5, 6, 7)), (0, (5, 6, 8, 9)), (1, (5, 6))], [(0, 2), (1, 1), (2, 1)])
    assert packing.tokens.tolist() == [5, 6, 7, 8, 9, 5, 6]
    assert packing.positions.tolist() == [0, 1, 2, 2, 3, 0, 1]
    assert packing.owners.tolist() == [0, 0, 0, 0, 0, 1, 1]
    assert packing.rows.tolist() == [[0, 1, 2, 0], [0, 1, 3, 4], [5, 6, 0, 0]]
    assert packing.places.tolist() == [0, 1, 2, 6, 7, 8, 9]
    assert packing.targets.tolist() == [2, 1, 6]
    assert not packing.even
    assert pack([(0, (1, 2)), (0, (2, 1))], [(0, 0)]).even


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), st.lists(st.integers(0, 2), min_size=1, max_size=6))))
def test_sorted_rows_share_all_there_is_to_share(lines: list[tuple[int, list[int]]]) -> None:
    rows = sorted((*lines, (0, [1])))
    packing = pack(rows, [(0, 0)])
    prefixes = {(owner, tuple(line[: n + 1])) for owner, line in rows for n in range(len(line))}
    assert len(packing.tokens) == len(prefixes)
    for (owner, line), nodes in zip(rows, packing.rows, strict=True):
        mine = nodes[: len(line)]
        assert packing.tokens[mine].tolist() == line
        assert packing.positions[mine].tolist() == list(range(len(line)))
        assert set(packing.owners[mine].tolist()) == {owner}
    assert packing.rows.flatten()[packing.places].tolist() == list(range(len(packing.tokens)))


def test_which_architectures_pack(model: BridgedModel) -> None:
    assert model.packs() == (model.info.architecture != "HeadscopeAttentionOnly")
    assert model._targets._narrows


def test_packed_is_the_plain_pass(model: BridgedModel) -> None:
    gates = some_gates(model)
    with torch.no_grad():
        found = model.target_logits(pack(ROWS, WHERE), gates)
        torch.testing.assert_close(found, one_by_one(model, gates), rtol=1e-6, atol=1e-6)
        plain = model._targets(pack(ROWS, WHERE), gates, plain=True)
    torch.testing.assert_close(found, plain, rtol=1e-6, atol=1e-6)


def test_packed_gradients_are_the_plain_passes(model: BridgedModel) -> None:
    gradients = []

    def packed(model: BridgedModel, gates: torch.Tensor) -> torch.Tensor:
        return model.target_logits(pack(ROWS, WHERE), gates)

    for run in (packed, one_by_one):
        gates = some_gates(model).requires_grad_()
        weights = torch.linspace(-1, 1, model.info.d_vocab, dtype=torch.float64)
        (run(model, gates).softmax(dim=1) @ weights).pow(2).sum().backward()
        assert gates.grad is not None
        gradients.append(gates.grad)
    assert (gradients[1].abs() > 0).all()
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-8)


def test_a_gate_of_one_leaves_every_bit(model: BridgedModel) -> None:
    packing, ones = pack(ROWS, WHERE), torch.ones_like(some_gates(model))
    with torch.no_grad():
        plain = model.target_logits(packing, None)
        assert torch.equal(model.target_logits(packing, ones), plain)
        assert torch.equal(model.target_logits(packing, ones[:1].expand(2, -1, -1)), plain)


def test_rows_of_one_length_and_owner_need_no_spreading(model: BridgedModel) -> None:
    rows, where = [(0, (9, 4, 7)), (0, (8, 4, 7))], [(0, 2), (1, 2)]
    packing, gates = pack(rows, where), some_gates(model, 1)
    assert packing.even
    with torch.no_grad():
        found = model.target_logits(packing, gates)
        torch.testing.assert_close(found, one_by_one(model, gates, rows, where), rtol=1e-6, atol=1e-6)


def test_rows_longer_than_a_window_run_padded(model: BridgedModel) -> None:
    """Gemma-2's local layers see 8 tokens back."""
    rows = [(0, tuple(range(1, 16))), (1, tuple(range(1, 14)))]
    where, gates = [(0, 14), (1, 12)], some_gates(model)
    with torch.no_grad():
        found = model.target_logits(pack(rows, where), gates)
        torch.testing.assert_close(found, one_by_one(model, gates, rows, where), rtol=1e-6, atol=1e-6)


def test_held_patterns_act_on_targets_too(model: BridgedModel) -> None:
    packing, gates = pack(ROWS, WHERE), some_gates(model)
    with torch.no_grad(), model.reading(lambda layer, pattern, _: seen.append((layer, pattern.shape[0]))):
        seen: list[tuple[int, int]] = []
        found = model.target_logits(packing, gates)
    assert sorted(set(seen)) == [(layer, len(ROWS)) for layer in range(model.info.n_layers)]
    with torch.no_grad():
        torch.testing.assert_close(found, model.target_logits(packing, gates), rtol=1e-5, atol=1e-6)


def test_a_model_that_looks_at_the_length_of_a_pass_is_not_packed(llama_folder: Path) -> None:
    model = bridged(llama_folder)
    model.parts.attentions[0].register_forward_hook(lambda _, __, out: (out[0] * out[0].shape[1], *out[1:]))
    assert not model.packs()
    assert model._targets._narrows


def test_a_layer_that_mixes_positions_is_not_narrowed(llama_folder: Path) -> None:
    model = bridged(llama_folder)
    mlp = model.parts.mlps[-1]
    assert mlp is not None
    mlp.register_forward_hook(lambda _, __, out: out.cumsum(dim=1))
    assert not model._targets._narrows
    assert not model.packs()
