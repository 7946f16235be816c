"""z' = g z + (1 - g) r: identities, an independent pass, packed as unpacked, finite differences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from core.plain_ablation import loss as plain_loss
from core.plain_ablation import mixed_values
from headscope.core.attribution.relatives import attribution_patching, leave_one_out
from headscope.core.gating.evaluation import evaluate
from headscope.core.gating.fit import FitState, Phase, advance, initial_logits, loss_and_gradient
from headscope.core.gating.replacements import (
    FEW,
    Means,
    Paired,
    Replacements,
    Resampled,
    mean_table,
    measured,
)
from headscope.core.model.bridge import BridgedModel
from headscope.core.model.load import load_model
from headscope.core.model.packing import pack
from headscope.core.model.replacement import Replacement
from headscope.errors import Invalid
from micro.model import MicroExample, MicroModel, random_examples, random_model

ROWS = [(0, (9, 4, 7, 7)), (0, (9, 4, 8, 3)), (0, (9, 5, 8, 7, 6, 3)), (1, (9, 4, 7, 7))]
WHERE = [(0, 3), (1, 1), (1, 3), (2, 5), (3, 0), (3, 3)]


@pytest.fixture(scope="module")
def tiny(tiny_folder: Path) -> BridgedModel:
    loaded = load_model(tiny_folder, name="tiny", dtype="float64", device="cpu")
    assert isinstance(loaded, BridgedModel)
    return loaded


def paired(examples: Sequence[MicroExample], seed: int = 5) -> list[MicroExample]:
    """With another beginning before the same targets."""
    source = torch.Generator().manual_seed(seed)
    return [
        MicroExample(
            e.tokens,
            e.targets,
            paired=(
                *torch.randint(11, (min(e.targets),), generator=source).tolist(),
                *e.tokens[min(e.targets) :],
            ),
        )
        for e in examples
    ]


def every_kind(model: MicroModel, others: Sequence[MicroExample]) -> dict[str, Replacements]:
    return {"mean": Means(mean_table(model, others)), "resample": Resampled(others), "pairs": Paired()}


def some_gates(model: MicroModel | BridgedModel, sets: int, seed: int = 3) -> torch.Tensor:
    shape = (sets, model.info.n_layers, model.info.n_heads)
    return torch.rand(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def some_table(model: BridgedModel, entries: int) -> torch.Tensor:
    info = model.info
    shape = (entries, info.n_layers, info.n_heads, info.d_head)
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(4))


def test_an_open_gate_is_the_model_as_it_is_and_a_closed_one_without_r_is_as_ever(tiny: BridgedModel) -> None:
    tokens = torch.tensor([[9, 4, 7], [9, 4, 8]])
    index = torch.tensor([[0, 1, 2], [0, 2, 1]])
    r, ones = Replacement(some_table(tiny, 3), index), torch.ones(tiny.info.n_layers, tiny.info.n_heads)
    with torch.no_grad():
        with tiny.gated(ones, r):
            opened = tiny.logits(tokens)
        assert torch.equal(opened, tiny.logits(tokens))
        with tiny.gated(0 * ones, Replacement(0 * r.table, index)):
            zeros = tiny.logits(tokens)
        with tiny.gated(0 * ones):
            assert torch.equal(zeros, tiny.logits(tokens))
        with tiny.gated(0 * ones, r):
            assert not torch.allclose(zeros, tiny.logits(tokens))


def test_a_head_replaced_by_itself_is_untouched_at_every_gate(tiny: BridgedModel) -> None:
    lines = [(9, 4, 7, 7), (9, 5, 8)]
    table, starts = measured(tiny, lines)
    index = torch.zeros(2, 4, dtype=torch.long)
    for row, (start, line) in enumerate(zip(starts, lines, strict=True)):
        index[row, : len(line)] = start + torch.arange(len(line))
    tokens = torch.tensor([[9, 4, 7, 7], [9, 5, 8, 0]])
    with torch.no_grad():
        plain = tiny.logits(tokens)
        with tiny.gated(some_gates(tiny, 2), Replacement(table, index)):
            found = tiny.logits(tokens)
    torch.testing.assert_close(found[0], plain[0])
    torch.testing.assert_close(found[1, :3], plain[1, :3])


def test_packed_is_the_plain_pass_with_r_too(tiny: BridgedModel) -> None:
    table = some_table(tiny, 5)
    index = torch.tensor([[0, 1, 4, 2, 0, 0], [0, 1, 3, 2, 0, 0], [0, 3, 4, 1, 2, 2], [0, 2, 2, 1, 0, 0]])
    by_length = Replacement(table, index)
    gates = some_gates(tiny, 2)
    alone = []
    with torch.no_grad():
        for row, position in WHERE:
            owner, line = ROWS[row]
            with tiny.gated(gates[owner], Replacement(table, index[row : row + 1])):
                alone.append(tiny.logits(torch.tensor([list(line)]))[0, position])
        for kinds in (None, [0, 1, 2, 3]):
            packing = pack(ROWS, WHERE, kinds)
            found = tiny.target_logits(packing, gates, by_length)
            torch.testing.assert_close(found, torch.stack(alone), rtol=1e-6, atol=1e-6)
            plain = tiny._targets(packing, gates, by_length, plain=True)
            torch.testing.assert_close(plain, torch.stack(alone), rtol=1e-6, atol=1e-6)


def test_rows_of_different_kinds_share_nothing() -> None:
    assert len(pack(ROWS[:2], WHERE[:3]).tokens) == 6
    assert len(pack(ROWS[:2], WHERE[:3], [0, 1]).tokens) == 8


def test_text_of_any_length_takes_entries_in_turn_after_the_first_also_while_it_is_written(
    tiny: BridgedModel,
) -> None:
    r = Replacement(some_table(tiny, 4))
    assert r.entries(0, 2, 7).tolist() == [[0, 1, 2, 3, 1, 2, 3]]
    assert r.entries(4, 1, 2).tolist() == [[1, 2]]
    assert Replacement(r.table[:1]).entries(0, 1, 3).tolist() == [[0, 0, 0]]
    gates = some_gates(tiny, 1)[0]
    ids = [9, 4, 7, 7, 5]

    def greedy(logits: torch.Tensor) -> int:
        return int(logits.argmax())

    with tiny.gated(gates, r):
        written = list(tiny.continued(ids, 6, greedy))
    for n, token in enumerate(written):
        with torch.no_grad(), tiny.gated(gates, r):
            assert greedy(tiny.logits(torch.tensor([ids + written[:n]]))[0, -1]) == token


def test_a_mean_is_by_distance_from_the_end_first_tokens_apart() -> None:
    model = random_model()
    others = random_examples(24, n_targets=(1,))
    table = mean_table(model, others)
    z = [mixed_values(model, e.tokens) for e in others]
    ends = [max(e.targets) for e in others]
    first = torch.stack([of[:, :, 0] for of in z]).mean(dim=0)
    second_last = torch.stack([of[:, :, n - 2] for of, n in zip(z, ends, strict=True)]).mean(dim=0)
    later = torch.cat([of[:, :, 1:n] for of, n in zip(z, ends, strict=True)], dim=2).mean(dim=2)
    torch.testing.assert_close(table[0], first.float())
    torch.testing.assert_close(table[1], later.float())
    torch.testing.assert_close(table[3], second_last.float())
    index = Means(table).of(model, _one_batch(model, others[:3]), others[:3]).index
    assert index is not None
    assert index.tolist() == [[0, 3, 2, 0, 0, 0, 0], [0, 4, 3, 2, 0, 0, 0], [0, 6, 5, 4, 3, 2, 0]][::-1]


def test_a_class_that_few_rows_reach_takes_the_mean_over_all_later_positions() -> None:
    model = random_model()
    others = random_examples(FEW + 2, lengths=[4] * (FEW + 1) + [7], n_targets=(1,))
    table = mean_table(model, others)
    assert torch.equal(table[6], table[1])
    assert not torch.equal(table[3], table[1])


def test_where_z_is_the_same_everywhere_its_mean_changes_nothing() -> None:
    """Queries and keys of nothing, values that don't depend on the token: every head's z is one vector."""
    model = random_model()
    model.W_Q.zero_()
    model.W_E[:] = model.W_E[:1]
    model.W_pos.zero_()
    examples = random_examples(12, lengths=(5, 6))
    gates = some_gates(model, 3)
    means = Means(mean_table(model, examples))
    as_it_is = evaluate(model, examples).log_probability
    found = evaluate(model, examples, gates, replacements=means).log_probability
    torch.testing.assert_close(found, as_it_is.expand(3), rtol=1e-6, atol=1e-6)
    assert not torch.allclose(evaluate(model, examples, gates).log_probability, as_it_is)


@pytest.mark.parametrize("kind", ["mean", "resample", "pairs"])
def test_scores_are_those_of_a_plain_pass(kind: str) -> None:
    model = random_model()
    examples = paired(random_examples(9))
    others = random_examples(20, seed=1)
    replacements = every_kind(model, others)[kind]
    gates = some_gates(model, 2)
    found = evaluate(model, examples, gates, replacements=replacements).log_probability
    expected = [
        -sum(plain_loss(model, e.tokens, e.targets, of, _inside(kind, model, e, others)) for e in examples)
        / len(examples)
        for of in gates
    ]
    assert found.tolist() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("kind", ["mean", "resample", "pairs"])
def test_what_a_head_is_worth_is_its_loss_closed_minus_open(kind: str) -> None:
    model = random_model()
    examples = paired(random_examples(4))
    others = random_examples(20, seed=1)
    rise = leave_one_out(model, examples, (0, 1), replacements=every_kind(model, others)[kind])
    for number, e in enumerate(examples):
        r = _inside(kind, model, e, others)
        ones = torch.ones(2, 3, dtype=torch.float64)
        base = plain_loss(model, e.tokens, e.targets, ones, r)
        for layer in (0, 1):
            for head in range(3):
                gates = ones.clone()
                gates[layer, head] = 0
                expected = plain_loss(model, e.tokens, e.targets, gates, r) - base
                assert rise[number, layer, head].item() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("kind", ["mean", "resample", "pairs"])
def test_gradients_are_those_of_finite_differences(kind: str) -> None:
    model = random_model()
    examples = paired(random_examples(6))
    replacements = every_kind(model, random_examples(20, seed=1))[kind].drawn(["a", "b"])
    rows = [(owner, index) for owner in (0, 1) for index in range(6)]
    logits = torch.logit(some_gates(model, 2))
    _, gradient = loss_and_gradient(model, examples, rows, logits, replacements=replacements)
    for owner, layer, head in [(0, 0, 1), (1, 1, 2)]:
        sides = []
        for step in (1e-5, -1e-5):
            moved = logits.clone()
            moved[owner, layer, head] += step
            loss, _ = loss_and_gradient(model, examples, rows, moved, replacements=replacements)
            sides.append(loss[owner])
        slope = (sides[0] - sides[1]) / 2e-5
        torch.testing.assert_close(gradient[owner, layer, head], slope, rtol=1e-5, atol=1e-8)
    patched = attribution_patching(model, examples, 1.0, replacements=replacements.drawn([]))[1]
    assert torch.isfinite(patched).all()


@pytest.mark.parametrize("remembers", [False, True])
def test_seeds_side_by_side_draw_what_each_draws_alone(remembers: bool) -> None:
    model = random_model()
    examples = random_examples(8)
    phase = Phase(12, 0.1, 0.5, 0.1, 4, remembers=remembers)
    resampled = Resampled(random_examples(20, seed=1))

    def fitted(seeds: list[int]) -> torch.Tensor:
        state = FitState.fresh(initial_logits(seeds, 2, 3, torch.float64))
        return advance(model, examples, seeds, phase, state, replacements=resampled).logits

    both = fitted([4, 7])
    torch.testing.assert_close(both[:1], fitted([4]))
    torch.testing.assert_close(both[1:], fitted([7]))


def test_draws_differ_by_key_and_never_take_the_row_itself() -> None:
    pool = random_examples(20, lengths=(5,))
    drawn = [Resampled(pool, (key,))._donor(key, pool[3]) for key in map(str, range(200))]
    assert len(set(drawn)) == 19
    assert 3 not in drawn
    with pytest.raises(Invalid) as caught:
        Resampled(pool[:1]).of(random_model(), _one_batch(random_model(), pool[:1]), pool[:1])
    assert caught.value.code == "no-other-row"


def test_a_shorter_row_is_gone_round_again_after_its_first_token() -> None:
    model = random_model()
    long, short = MicroExample((1, 2, 3, 4, 5, 6, 7), (6,)), MicroExample((8, 9, 10, 1), (3,))
    r = Resampled([short]).of(model, _one_batch(model, [long]), [long])
    assert r.index is not None
    assert r.index[0, :6].tolist() == [0, 2, 1, 2, 1, 2]
    z = mixed_values(model, short.tokens)
    torch.testing.assert_close(r.table[r.index[0, 5]], z[:, :, 2])


def test_rows_without_a_pair_are_refused() -> None:
    model, examples = random_model(), random_examples(2)
    with pytest.raises(Invalid) as caught:
        evaluate(model, examples, some_gates(model, 1), replacements=Paired())
    assert caught.value.code == "no-pairs"


@pytest.mark.parametrize("table", [torch.zeros(2, 1, 4, 8), torch.zeros(0, 3, 4, 8)])
def test_a_table_of_another_model_is_refused(tiny: BridgedModel, table: torch.Tensor) -> None:
    ones = torch.ones(tiny.info.n_layers, tiny.info.n_heads)
    with pytest.raises(Invalid) as caught, tiny.gated(ones, Replacement(table)):
        pass
    assert caught.value.code == "bad-replacement"


def _one_batch(model: MicroModel, examples: Sequence[MicroExample]):  # type: ignore[no-untyped-def]
    from headscope.core.gating.replacements import cut

    (batch,) = cut(model, [(0, index) for index in range(len(examples))], examples, None)
    return batch


def _inside(kind: str, model: MicroModel, example: MicroExample, others: Sequence[MicroExample]):  # type: ignore[no-untyped-def]
    """r at (layer, head, position) from z's that loops give."""
    n = max(example.targets)
    if kind == "pairs":
        assert example.paired is not None
        own = mixed_values(model, example.paired)
        return lambda layer, head, p: own[layer, head, p]
    if kind == "resample":
        donor = others[Resampled(others)._donor("", example)]
        z, m = mixed_values(model, donor.tokens), max(donor.targets)
        place = {0: 0} | {p: m - 1 - (n - p - 1) % (m - 1) for p in range(1, n)}
        return lambda layer, head, p: z[layer, head, place.get(p, 0)]
    every = [mixed_values(model, e.tokens) for e in others]
    ends = [max(e.targets) for e in others]

    def mean(layer: int, head: int, p: int) -> torch.Tensor:
        if p == 0:
            return torch.stack([of[layer, head, 0] for of in every]).mean(dim=0)
        same = [of[layer, head, m - (n - p)] for of, m in zip(every, ends, strict=True) if m - (n - p) >= 1]
        if len(same) >= FEW:
            return torch.stack(same).mean(dim=0)
        return torch.cat([of[layer, head, 1:m] for of, m in zip(every, ends, strict=True)]).mean(dim=0)

    return mean
