"""Effects of patched heads against one full pass a head in float64, on every architecture."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch

from core.plain_patching import Plain
from headscope.core.attribution.mediation import (
    answered,
    effects,
    mean_z,
    scores,
)
from headscope.core.model.head_model import HeadModel
from headscope.core.model.load import load_model
from headscope.core.model.patching import Patches, patched, read_z
from headscope.core.model.resuming import LastToken, Suffix
from headscope.errors import Invalid
from headscope.tasks.task import Example

SOURCE = torch.Generator().manual_seed(0)
IDS = [torch.randint(1, 300, (n,), generator=SOURCE).tolist() for n in (12, 17, 12)]
EXAMPLES = [Example((*ids, 7, 8), (len(ids), len(ids) + 1)) for ids in IDS]


@dataclass(frozen=True)
class Pair:
    base: tuple[int, ...]
    other: tuple[int, ...]
    base_answer: int
    other_answer: int
    expected: int


@pytest.fixture(scope="module")
def model(tiny_folder: Path) -> HeadModel:
    return load_model(tiny_folder, name="tiny", device="cpu")


@pytest.fixture(scope="module")
def plain(tiny_folder: Path) -> Plain:
    return Plain(tiny_folder)


def near(found: torch.Tensor, expected: torch.Tensor, within: float = 2e-5) -> None:
    torch.testing.assert_close(found.double(), expected.double(), rtol=1e-4, atol=within)


def test_z_and_logits_are_those_at_the_places_asked_for(model: HeadModel, plain: Plain) -> None:
    tokens, where = torch.tensor([IDS[0], IDS[2]]), torch.tensor([[1, 3], [0, 11], [1, 11]])
    z, logits = read_z(model, tokens, where)
    for row, (example, position) in enumerate(where.tolist()):
        ids = (IDS[0], IDS[2])[example]
        near(z[row], plain.z(ids)[:, position])
        near(logits[row], plain.logits(ids)[position], 1e-4)


def test_function_vector_effects_are_those_of_one_pass_a_head(model: HeadModel, plain: Plain) -> None:
    means = mean_z(model, EXAMPLES)
    expected = torch.stack([plain.z(ids)[:, -1] for ids in IDS]).mean(0)
    near(means.z, expected)
    for ids, probability, right in zip(IDS, means.probability, means.right, strict=True):
        logits = plain.logits(ids)[-1]
        assert probability.item() == pytest.approx(logits.softmax(-1)[7].item(), rel=1e-3)
        assert bool(right) == (int(logits.argmax()) == 7)
    found = effects(model, EXAMPLES[1], means.z.float())
    before = plain.logits(IDS[1])[-1].softmax(-1)[7]
    assert found.probability == pytest.approx(before.item(), rel=1e-3)
    rises = [
        plain.patched(IDS[1], layer, head, [16], expected[layer, head][None]).softmax(-1)[7] - before
        for layer, head in plain.heads()
    ]
    near(found.rise, torch.stack(rises).view(found.rise.shape), 1e-6)
    assert found.rise.abs().min() > 0


def test_rule_scores_are_those_of_one_pass_a_head(model: HeadModel, plain: Plain) -> None:
    pair = Pair(tuple(IDS[0]), tuple(IDS[2]), 5, 6, 9)
    for positions in ([4, 9], [11], [0, 11]):
        found = scores(model, pair, positions)
        base, logits = plain.z(pair.base), plain.logits(pair.other)[-1]
        for layer, head in plain.heads():
            z = base[layer, positions, head]
            after = plain.patched(pair.other, layer, head, positions, z)
            expected = (after[9] - after[6]) - (logits[9] - logits[6])
            assert found[layer, head].item() == pytest.approx(expected.item(), rel=1e-3, abs=2e-5)


def test_a_head_patched_with_its_own_z_changes_nothing(model: HeadModel) -> None:
    pair = Pair(tuple(IDS[0]), tuple(IDS[0]), 5, 6, 9)
    assert scores(model, pair, [3, 11]).abs().max() < 1e-4


def test_many_rows_in_pieces_are_the_same(model: HeadModel, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = effects(model, EXAMPLES[0], mean_z(model, EXAMPLES).z.float())
    monkeypatch.setattr(LastToken, "most_rows", 4)
    pieces = effects(model, EXAMPLES[0], mean_z(model, EXAMPLES).z.float())
    near(pieces.rise, whole.rise, 1e-6)
    assert pieces.probability == pytest.approx(whole.probability, rel=1e-5)


def test_patches_come_back_in_the_order_given(model: HeadModel, plain: Plain) -> None:
    last = model.info.n_layers - 1
    heads, z = [(last, 1), (0, 2), (1, 0)], torch.ones(3, 2, model.info.d_head)
    z[1] *= 2
    suffix = Suffix(model, IDS[0], 5)
    before, after = patched(suffix, Patches(heads, [5, 8], z), lambda rows: rows)
    near(before, plain.logits(IDS[0])[-1], 1e-4)
    for row, (layer, head) in enumerate(heads):
        near(after[row], plain.patched(IDS[0], layer, head, [5, 8], z[row].double()), 1e-4)
    none, empty = patched(suffix, Patches([], [5], z[:0, :1]), lambda rows: rows)
    near(none, before)
    assert empty.shape == (0, model.info.d_vocab)


def test_a_patched_head_has_its_z_whatever_its_gate(model: HeadModel) -> None:
    gates = torch.ones(model.info.n_layers, model.info.n_heads)
    gates[0, 1] = 0
    patches = Patches([(0, 1)], [11], torch.ones(1, 1, model.info.d_head))
    with model.gated(gates):
        suffix = Suffix(model, IDS[0], 11)
        _, under = patched(suffix, patches, lambda rows: rows)
        closed = model.logits(torch.tensor([IDS[0]]))[0, -1]
    assert (under[0] - closed).abs().max() > 1e-3


def test_what_cannot_be_patched_is_refused(model: HeadModel) -> None:
    z = torch.ones(1, 1, model.info.d_head)
    suffix = Suffix(model, IDS[0], 3) if model.kept(torch.tensor([[1]])) else None
    if suffix is not None:
        with pytest.raises(Invalid, match="positions 3-11"):
            patched(suffix, Patches([(0, 0)], [2], z), lambda rows: rows)
    with pytest.raises(Invalid, match=f"heads 0-{model.info.n_heads - 1}"):
        patched(LastToken(model, IDS[0]), Patches([(0, 9)], [11], z), lambda rows: rows)
    pair = Pair(tuple(IDS[0]), tuple(IDS[1]), 5, 6, 9)
    for ask in (lambda: scores(model, pair, [3]), lambda: answered(model, pair)):
        with pytest.raises(Invalid, match="12 and 17 tokens"):
            ask()


def test_answered_asks_both_contexts(model: HeadModel) -> None:
    with torch.no_grad():
        tops = [int(model.logits(torch.tensor([ids]))[0, -1].argmax()) for ids in (IDS[0], IDS[2])]
    pair = Pair(tuple(IDS[0]), tuple(IDS[2]), tops[0], tops[1], 9)
    assert answered(model, pair)
    assert not answered(model, replace(pair, base_answer=(tops[0] + 1) % 300))
    assert not answered(model, replace(pair, other_answer=(tops[1] + 1) % 300))
